#include "reduce_split_k/family.hpp"
#include "common/epilogue_launch.hpp"
#include "reduce_split_k/config.hpp"

namespace quarry::reduce_split_k {
namespace {

long long blocks(const ReduceProblem& problem) {
  const ReduceParams& p = problem.params;
  return reduce_split_k::blocks(p.m, p.n, p.batch, p.sharers_log2);
}

class ReduceSplitK final : public ReduceFamily {
 public:
  Status supports(const void*, const ReduceProblem& problem) const override {
    constexpr auto code = StatusCode::unsupported;
    if (!problem.is_packed) {
      return {code,
              "Operand `partials` is unsupported: expected packed slices, each stride the product of the "
              "extents behind it, got other strides"};
    }
    if (is_empty(problem) || blocks(problem) <= grid_limit) return {};
    return {code, Reason::grid_limit, Operand::none, grid_limit, blocks(problem)};
  }

  /// It moves memory, and waits for nothing else.
  Account account(const void*, const ReduceProblem& problem, const DeviceModel& device) const override {
    const ReduceParams& p = problem.params;
    const int like_out = 1 + static_cast<int>(problem.has_c) + static_cast<int>(problem.has_residual) +
                         static_cast<int>(problem.has_aux);
    const double bytes_of_output = static_cast<double>(p.slices) * bytes_of(problem.partials) +
                                   static_cast<double>(like_out) * bytes_of(problem.out);
    const double outputs = static_cast<double>(p.m) * p.n * p.batch;
    Account account;
    account.operations = outputs * p.slices;
    account.bytes = outputs * bytes_of_output;
    account[TimePart::launch] = device.rates.launch.reduction;
    account[TimePart::memory] = account.bytes / device.memory_bandwidth;
    account.seconds = account[TimePart::launch] + account[TimePart::memory];
    return account;
  }

  void launch(const void* config, const ReduceProblem& problem, Launch& launch) const override {
    if (is_empty(problem)) return;
    Step& step = add_kernel(launch, 0, sizeof(ReduceParams));
    step.grid = static_cast<unsigned>(blocks(problem));
    step.threads = static_cast<unsigned>(threads(*static_cast<const Config*>(config)));
    auto& params = params_of<ReduceParams>(launch, step);
    params = problem.params;
    relocate(launch, params.partials, Operand::partials);
    relocate_epilogue(launch, params, problem);
    const auto element = static_cast<std::uint16_t>(bytes_of(problem.partials));
    launch.uses.add({Operand::partials, problem.partials, false, element});
    use_epilogue(launch, params, problem, problem.out, compute_type(problem.partials, problem.out));
  }
};

constinit const ReduceSplitK instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::reduce_split_k
