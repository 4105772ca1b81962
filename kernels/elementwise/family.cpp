#include "elementwise/family.hpp"

#include <algorithm>

#include "elementwise/config.hpp"
#include "elementwise/steps.hpp"

namespace quarry::elementwise {
namespace {

constexpr int innermost = elementwise_extents - 1;

long long vectors_of(const Config& c, const ElementwiseProblem& problem) {
  const long long* const e = problem.params.extents;
  return e[0] * e[1] * e[2] * vectors_along(c, e[innermost]);
}

/// Whether neighbours of a tensor can move together.
Status check_vectors(const Config& c, const ElementwiseProblem& problem, int tensor) {
  const ElementwiseParams& p = problem.params;
  const ElementwiseTensor& t = p.tensors[tensor];
  const ElementwiseOperand& operand = problem.operands[tensor];
  const long long stride = t.strides[innermost];
  if (p.extents[innermost] <= 1 || stride == 0) return {};
  if (stride != 1)
    return {StatusCode::unsupported, Reason::layout, operand.name, static_cast<int>(Layout::row), -1};
  const int element = element_bytes(problem, tensor);
  const int access = access_bytes(c, element);
  const int own = bytes_of(operand.type);
  const int needed = std::max(1, access / own);
  const auto alignment = static_cast<int>(operand.alignment);
  if (alignment < access) {
    return {StatusCode::unsupported, Reason::pointer_alignment, operand.name, needed, alignment / own};
  }
  for (int i = 0; i < innermost; ++i) {
    const bool has_lines = p.extents[i] > 1 || (operand.is_gathered && i == 2);
    if (!has_lines || t.strides[i] * element % access == 0) continue;
    return {StatusCode::unsupported, Reason::leading_alignment, operand.name, needed,
            t.strides[i] * element / own};
  }
  return {};
}

/// Bytes that a run moves; what is broadcast counts once.
double bytes_moved(const ElementwiseProblem& problem) {
  double bytes = 0;
  for (int i = 0; i < problem.tensors; ++i) {
    double elements = 1;
    for (int k = 0; k < elementwise_extents; ++k) {
      if (problem.params.tensors[i].strides[k] != 0)
        elements *= static_cast<double>(problem.params.extents[k]);
    }
    bytes += elements * element_bytes(problem, i);
  }
  return bytes;
}

// How much longer memory takes, from sums and casts of 2^20 and 2^28 elements of bf16 on an H200: where the
// widest accesses have half of 16 bytes; for each further vector of a thread; for threads of one element. And
// the blocks of a multiprocessor from which on none is idle.
constexpr double half_access = 0.33;
constexpr double next_vector = 0.15;
constexpr double few_elements = 0.24;
constexpr int busy_blocks = 2;

double memory_factor(const Config& c, const ElementwiseProblem& problem) {
  int widest = 1;
  for (int i = 0; i < problem.tensors; ++i)
    widest = std::max(widest, access_bytes(c, element_bytes(problem, i)));
  const double width = 1 + half_access * (static_cast<double>(widest_access) / widest - 1);
  return width * (1 + next_vector * (c.vectors - 1)) * (1 + few_elements / c.elements);
}

long long blocks_of(const Config& c, const ElementwiseProblem& problem) {
  if (!problem.reductions.has_any()) return blocks(c, vectors_of(c, problem));
  return std::max(reduced_blocks(c, reduced_shape(c, problem)), finish_blocks(c, problem));
}

class Elementwise final : public ElementwiseFamily {
 public:
  Status supports(const void* config, const ElementwiseProblem& problem) const override {
    const Config& c = *static_cast<const Config*>(config);
    for (int i = 0; c.elements > 1 && i < problem.tensors; ++i) {
      if (!problem.operands[i].has_elements) continue;
      if (Status s = check_vectors(c, problem, i); !s) return s;
    }
    const long long needed = blocks_of(c, problem);
    if (needed <= grid_limit) return {};
    return {StatusCode::unsupported, Reason::grid_limit, Operand::none, grid_limit, needed};
  }

  /// Memory's time, longer where there are too few blocks for all multiprocessors, and a thread's time.
  Account account(const void* config, const ElementwiseProblem& problem,
                  const DeviceModel& device) const override {
    const Config& c = *static_cast<const Config*>(config);
    Account account;
    account.bytes = bytes_moved(problem);
    const double seconds = account.bytes / device.memory_bandwidth * memory_factor(c, problem);
    const auto at_once = static_cast<double>(device.multiprocessors) * busy_blocks;
    const auto needed = static_cast<double>(blocks_of(c, problem));
    const double idle = needed > 0 && needed < at_once ? at_once / needed : 1;
    account.waves = needed / at_once;
    account[TimePart::launch] = device.rates.launch.first;
    account[TimePart::memory] = seconds * std::min(idle, 8.0);
    account[TimePart::latency] = 1e-9 * c.elements * c.vectors;
    account.seconds = account[TimePart::launch] + account[TimePart::memory] + account[TimePart::latency];
    return account;
  }

  std::size_t workspace_size(const void* config, const ElementwiseProblem& problem) const override {
    if (!problem.reductions.has_any()) return 0;
    return reduced_workspace(*static_cast<const Config*>(config), problem);
  }

  void launch(const void* config, const ElementwiseProblem& problem, Launch& launch) const override {
    const Config& c = *static_cast<const Config*>(config);
    if (problem.reductions.has_any()) return launch_reduced(c, problem, launch);
    if (element_count(problem) == 0) return;
    Step& step = add_kernel(launch, 0, sizeof(ElementwiseParams));
    step.grid = static_cast<unsigned>(blocks(c, vectors_of(c, problem)));
    step.threads = static_cast<unsigned>(threads(c));
    auto& params = params_of<ElementwiseParams>(launch, step);
    params = problem.params;
    relocate_tensors(problem, params, launch);
    add_uses(c, problem, launch);
  }
};

constinit const Elementwise instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::elementwise
