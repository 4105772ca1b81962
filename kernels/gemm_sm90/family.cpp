#include <algorithm>
#include <limits>
#include <type_traits>

#include "gemm/common_family.hpp"
#include "gemm/expression_params.hpp"
#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/config.hpp"
#include "gemm_sm90/estimate.hpp"
#include "gemm_sm90/launch.hpp"
#include "gemm_sm90/reordered.hpp"
#include "gemm_sm90/tensor_maps.hpp"
#include "gemm_sm90/zero_params.hpp"

namespace quarry::gemm_sm90 {
namespace {

static_assert(std::is_standard_layout_v<ScaledTensorGemmParams>);
static_assert(expression_is_last<TensorGemmParams> && expression_is_last<ScaledTensorGemmParams>);

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// The bytes of a line are counted in 32 bits where threads copy it, and where it is one of weights.
Status check_lines(const GemmTraits& kernel, const GemmProblem& problem) {
  constexpr auto code = StatusCode::unsupported;
  constexpr std::int64_t most_bits = std::int64_t{std::numeric_limits<int>::max()} * 8;
  const int bits_a = bits_of(problem.types.a);
  const int bits_b = bits_of(problem.types.b);
  if (bits_a != bits_b) {
    const std::int64_t most =
        most_bits / 8 / std::min(bits_a, bits_b);  // bits in 32 bits, before they are bytes
    if (problem.k > most) return {code, Reason::k_limit, Operand::none, most, problem.k};
  }
  if (kernel.maps_operands) return {};
  const int line_a = kernel.layouts.a == Layout::row ? problem.k : problem.m;
  const int line_b = kernel.layouts.b == Layout::column ? problem.k : problem.n;
  if (line_a > most_bits / bits_a)
    return {code, Reason::extent_limit, callers(Operand::a, problem), most_bits / bits_a, line_a};
  if (line_b > most_bits / bits_b)
    return {code, Reason::extent_limit, callers(Operand::b, problem), most_bits / bits_b, line_b};
  return {};
}

/// What gemm_supports does not know of: the limits of lines, of tensor maps, and of clusters.
Status check_hopper(const GemmTraits& kernel, const GemmProblem& problem) {
  if (Status s = check_controls(kernel, problem.controls); !s) return s;
  if (Status s = check_lines(kernel, problem); !s) return s;
  const int slices = problem.controls.split_k_slices.value_or(1);
  const bool fits = slices == 1 && problem.traffic && problem.traffic->fits_any_grid;
  if (kernel.cluster > 1 && !fits) {
    const std::int64_t blocks = gemm_blocks(kernel, problem, slices) * kernel.cluster;
    if (blocks > grid_limit)
      return {StatusCode::unsupported, Reason::grid_limit, Operand::none, grid_limit, blocks};
  }
  if (!kernel.maps_operands || has_plain_strides(kernel.layouts, problem)) return {};
  return check_maps(kernel.layouts, problem);
}

/// Seconds of the copies of a problem: to launch them, and to move their bytes. Each costs what it costs
/// alone (reorder_matrix).
struct CopySeconds {
  double launch;
  double memory;
};
CopySeconds seconds_of(const ReorderCost& cost, const GemmProfile& kernel) {
  const DeviceRates& rates = *kernel.rates;
  // The factor of wgmma says nothing of copies.
  const double byte = kernel.memory_byte / rates.calibration.wgmma.memory / rates.memory.copy_share;
  return {cost.copies * rates.launch.copy, cost.moved * byte};
}

/// Blocks of a launch whose grid is `work` clusters if none computes more than one tile.
unsigned grid_blocks(const Config& config, unsigned work, int multiprocessors) {
  const unsigned cluster = blocks_of_cluster(config);
  if (config.schedule == Schedule::one_tile || multiprocessors <= 0) return work * cluster;
  return std::min(work, clusters_at_once(cluster, multiprocessors)) * cluster;
}

class GemmSm90 final : public CommonGemmFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    return gemm_sm90::profile(config_of(config), device);
  }

  Status supports(const GemmProfile& kernel, const GemmProblem& problem,
                  const DeviceModel& device) const override {
    const Layouts& wanted = kernel.traits.layouts;
    if (needs_reorder(wanted, problem)) return supports(kernel, with_copies(wanted, problem), device);
    const bool is_plain = gemm_takes(kernel.traits, problem, device) && !problem.wide.has_any();
    if (!is_plain) {
      if (Status status = gemm_supports(kernel.traits, problem, device); !status) return status;
    }
    return check_hopper(kernel.traits, problem);
  }

  Estimate estimate(const GemmProfile& kernel, const GemmProblem& problem,
                    std::size_t max_workspace) const override {
    if (needs_reorder(kernel.traits.layouts, problem))
      return estimate_reordered(kernel, problem, max_workspace);
    return gemm_sm90::estimate(kernel, problem, max_workspace);
  }

  Account account(const GemmProfile& kernel, const GemmProblem& problem,
                  std::size_t max_workspace) const override {
    const Layouts& wanted = kernel.traits.layouts;
    if (!needs_reorder(wanted, problem)) return gemm_sm90::account(kernel, problem, max_workspace);
    const ReorderCost cost = reorder_cost(wanted, problem);
    const CopySeconds copies = seconds_of(cost, kernel);
    Account result =
        gemm_sm90::account(kernel, with_copies(wanted, problem), left_of(max_workspace, cost.workspace));
    result[TimePart::launch] += copies.launch;
    result[TimePart::memory] += copies.memory;
    result.seconds += copies.launch + copies.memory;
    result.bytes += cost.moved;
    return result;
  }

  std::size_t workspace_size(const void* config, const GemmProblem& problem,
                             const ChosenControls& controls) const override {
    const GemmTraits kernel = traits(config);
    if (!needs_reorder(kernel.layouts, problem)) return gemm_workspace(kernel, problem, controls).bytes;
    return rounded_to_workspace(
               gemm_workspace(kernel, with_copies(kernel.layouts, problem), controls).bytes) +
           reorder_cost(kernel.layouts, problem).workspace;
  }

  void launch(const void* config, const GemmProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const Layouts& wanted = config_of(config).layouts;
    if (!needs_reorder(wanted, problem)) return launch_alone(config_of(config), problem, controls, launch);
    launch_alone(config_of(config), with_copies(wanted, problem), controls, launch);
    if (!launch.is_empty()) add_reorders(wanted, problem, launch);
  }

  bool copies_operands(const GemmProfile& kernel, const GemmProblem& problem) const override {
    return needs_reorder(kernel.traits.layouts, problem);
  }

  GemmParams host_params(const Launch& launch, const std::byte* image) const override {
    return without_reorders(launch, image, params_of<GemmParams>(image, *kernel_step(launch)));
  }

 private:
  static std::size_t left_of(std::size_t most, std::size_t taken) { return most > taken ? most - taken : 0; }

  /// Apart, as most problems need no copies.
  [[gnu::noinline]] static Estimate estimate_reordered(const GemmProfile& kernel, const GemmProblem& problem,
                                                       std::size_t max_workspace) {
    const Layouts& wanted = kernel.traits.layouts;
    const ReorderCost cost = reorder_cost(wanted, problem);
    const CopySeconds copies = seconds_of(cost, kernel);
    Estimate result =
        gemm_sm90::estimate(kernel, with_copies(wanted, problem), left_of(max_workspace, cost.workspace));
    result.seconds += copies.launch + copies.memory;
    result.workspace += cost.workspace;
    return result;
  }

  /// Fills a launch of the kernel, for operands that it takes as they are.
  static void launch_alone(const Config& c, const GemmProblem& problem, const ChosenControls& controls,
                           Launch& launch) {
    TensorGemmParams* const params = begin_launch(c, problem, controls, params_bytes(c), launch);
    if (params == nullptr) return;
    add_maps(c, problem, *params, launch);
    if (!reads_scales(problem)) return;
    const Step& step = *kernel_step(launch);
    if (takes_scales(c)) add_scales(launch, params_of<ScaledTensorGemmParams>(launch, step).scales, problem);
    if (has_zeros(c)) add_zeros(launch, params_of<ZeroTensorGemmParams>(launch, step).scales.zeros, problem);
  }

  static std::size_t params_bytes(const Config& c) {
    if (has_zeros(c)) return sizeof(ZeroTensorGemmParams);
    return takes_scales(c) ? sizeof(ScaledTensorGemmParams) : sizeof(TensorGemmParams);
  }
  GemmTraits traits(const void* config) const override { return gemm_sm90::traits(config_of(config)); }
  BlockCost block_cost(const void*, const DeviceModel&) const override { return {}; }  // see profile
};

constinit const GemmSm90 instance;

}  // namespace

Status check_controls(const GemmTraits& kernel, const Controls& controls) {
  constexpr auto code = StatusCode::unsupported;
  const int slices = controls.split_k_slices.value_or(1);
  if (controls.mode == Mode::split_k_cluster && !kernel.cuts_by_cluster) {
    return {code, Reason::mode, Operand::none, 0, static_cast<int>(Mode::split_k_cluster)};
  }
  const bool by_cluster = controls.mode == Mode::split_k_cluster || !kernel.cuts_in_parallel;
  if (by_cluster && slices > most_cluster_slices) {
    return {code, Reason::split_k_slices, Operand::none, most_cluster_slices, slices};
  }
  const int multiprocessors = controls.multiprocessors.value_or(kernel.cluster);
  if (multiprocessors < kernel.cluster) {
    return {code, Reason::multiprocessors, Operand::none, kernel.cluster, multiprocessors};
  }
  return {};
}

TensorGemmParams* begin_launch(const Config& config, const GemmProblem& problem,
                               const ChosenControls& controls, std::size_t params_bytes, Launch& launch) {
  gemm_launch(traits(config), problem, controls, launch, params_bytes);
  if (launch.is_empty()) return nullptr;
  Step& step = *std::ranges::find(launch.steps, Step::Kind::kernel, &Step::kind);
  auto& params = params_of<TensorGemmParams>(launch, step);
  params.finder = tile_finder(params.gemm, config.tile.k);
  step.waits_for_earlier = true;
  if (params.gemm.mode == Mode::split_k_cluster) {
    step.cluster = static_cast<unsigned>(params.gemm.slices);
  } else {
    step.cluster = blocks_of_cluster(config);
    step.grid = grid_blocks(config, step.grid, controls.multiprocessors);
  }
  return &params;
}

constinit const Family& family = instance;

}  // namespace quarry::gemm_sm90
