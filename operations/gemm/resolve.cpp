#include "operations/gemm/resolve.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/normalise.hpp"
#include "registry/device/device_model.hpp"
#include "registry/query/profiles.hpp"

namespace quarry::detail {
namespace {

constexpr auto unsupported = StatusCode::unsupported;

/// Whether the problem allows what the kernel does to its operands.
Status check_math(Math kernel, Math allowed) {
  if (kernel == Math::exact || kernel == allowed) return {};
  return {unsupported, "Math is unsupported: expected " + std::string(to_string(kernel)) + ", got " +
                           std::string(to_string(allowed))};
}

/// @param contiguous whether one of the operand's strides is 1
Status check_layout(Operand name, Layout expected, const ProblemOperand& operand) {
  if (operand.fits[static_cast<int>(expected)]) return {};
  // One that fits without being aligned to anything has no stride of 1: neither.
  int got = -1;
  for (int other = 0; other < layout_count; ++other) {
    if (operand.fits[other] && operand.alignment[other] > 0) got = other;
  }
  return {unsupported, Reason::layout, name, static_cast<int>(expected), got};
}

/// Whether a kernel has the mode and the slices that were asked for.
bool permits(const ModesMetadata& modes, const Controls& controls) {
  switch (controls.mode.value_or(Mode::gemm)) {
    case Mode::split_k_serial: return modes.split_k_serial;
    case Mode::split_k_parallel: return modes.split_k_parallel;
    case Mode::split_k_cluster: return modes.split_k_cluster;
    case Mode::stream_k: return modes.stream_k;
    default:
      return controls.split_k_slices.value_or(1) == 1 || modes.split_k_serial || modes.split_k_parallel ||
             modes.split_k_cluster;
  }
}

/// Whether a kernel finds the matrices of the problem's batch.
bool permits_batch(const ModesMetadata& modes, const GemmProblem& problem) {
  return problem.has_arrays ? modes.array : modes.batched || problem.batch == 1;
}

Status wrong_batch(const GemmProblem& problem) {
  if (problem.has_arrays) return {unsupported, Reason::mode_array, array_operand(problem)};
  return {unsupported, "Mode `batched` is unsupported: expected one matrix of each operand, got a batch of " +
                           std::to_string(problem.batch)};
}

/// Whether a kernel keeps to a number of multiprocessors: not where each tile has a block of its own.
bool is_persistent(const DesignMetadata& design) {
  return design.schedule && *design.schedule != Schedule::one_tile;
}

Status no_multiprocessors_control() {
  return {unsupported, Reason::control, Operand::none, 0, static_cast<int>(ControlName::multiprocessors)};
}

Status wrong_mode(const Controls& controls) {
  if (!controls.mode)
    return {unsupported, Reason::split_k_slices, Operand::none, 1, *controls.split_k_slices};
  return {unsupported, Reason::mode, Operand::none, 0, static_cast<int>(*controls.mode)};
}

/// The arguments' controls, with the kernel's where they leave something open; both in the orientation of the
/// kernel's entry. Mode and slices go together:
/// where the arguments fix one of them to something else than the kernel's, the kernel's other one says
/// nothing.
Controls merged(const Controls& arguments, const Controls& kernel) {
  Controls result = arguments;
  if (!result.swizzle) result.swizzle = kernel.swizzle;
  if (!result.raster) result.raster = kernel.raster;
  const bool other_mode = arguments.mode && arguments.mode != kernel.mode;
  const bool other_slices = arguments.split_k_slices && arguments.split_k_slices != kernel.split_k_slices;
  if (other_mode || other_slices) return result;
  if (!result.mode) result.mode = kernel.mode;
  if (!result.split_k_slices) result.split_k_slices = kernel.split_k_slices;
  return result;
}

/// Mode, slices and the order of tiles, by the family's estimate where they are open.
ChosenControls chosen(const Row& row, const GemmProblem& problem, const DeviceModel& device) {
  const Controls& c = problem.controls;
  if (c.mode && c.split_k_slices && c.swizzle && c.raster) {
    return {*c.mode, *c.split_k_slices, *c.swizzle, *c.raster};
  }
  constexpr std::size_t any_workspace = std::numeric_limits<std::size_t>::max();
  GemmProfile computed;
  return gemm_family(row).estimate(profile_of(row, device, computed), problem, any_workspace).controls;
}

ChosenControls settle(const Row& row, const GemmProblem& problem, const DeviceModel& device) {
  ChosenControls controls = chosen(row, problem, device);
  controls.multiprocessors =
      std::min(problem.controls.multiprocessors.value_or(device.multiprocessors), device.multiprocessors);
  if (row.metadata.modes.stream_k) {
    GemmProfile computed;
    controls.resident = profile_of(row, device, computed).resident;
  }
  return controls;
}

}  // namespace

const DeviceModel& model_for(const GemmArguments& arguments) {
  const auto model = [](const TensorView& view) -> const DeviceModel* {
    return view.memory.kind == MemoryKind::device ? cached_device_model(view.memory.device) : nullptr;
  };
  if (const DeviceModel* m = model(arguments.out)) return *m;
  if (const DeviceModel* m = model(arguments.a)) return *m;
  if (const DeviceModel* m = model(arguments.b)) return *m;
  if (arguments.c) {
    if (const DeviceModel* m = model(*arguments.c)) return *m;
  }
  return default_device_model();
}

Status check_model(const DeviceModel& d) {
  const bool complete = d.multiprocessors > 0 && d.multiprocessors <= 4096 && d.shared_memory_per_block > 0 &&
                        d.shared_memory_per_multiprocessor > 0 && d.registers_per_multiprocessor > 0 &&
                        d.threads_per_multiprocessor > 0 && d.memory_bandwidth > 0 && d.clock > 0 &&
                        d.tensor_flops_per_clock > 0 && d.fma_f32_flops_per_clock > 0 &&
                        d.fma_f64_flops_per_clock > 0;
  if (complete) return {};
  return invalid(
      "The device model is incomplete: sizes and speeds must be above 0, and multiprocessors at most 4096");
}

Status check_operation(const Row& row, Operation asked) {
  const Operation expected = row.metadata.operation;
  if (expected == asked) return {};
  return {unsupported, "Operation is unsupported: expected " + std::string(to_string(expected)) + ", got " +
                           std::string(to_string(asked))};
}

Status check_type(Operand name, DType expected, DType got) {
  if (expected == got) return {};
  return {unsupported, Reason::dtype, name, static_cast<int>(expected), static_cast<int>(got)};
}

Status check_compute_capability(const KernelMetadata& kernel, int cc) {
  if (cc >= kernel.cc && (!kernel.max_cc || cc <= *kernel.max_cc)) return {};
  return {unsupported, Reason::compute_capability, Operand::none, cc < kernel.cc ? kernel.cc : *kernel.max_cc,
          cc};
}

Status check_signature(const Row& row, const GemmProblem& problem) {
  if (Status s = check_operation(row, Operation::gemm); !s) return s;
  const OperandsMetadata& operands = row.metadata.operands;
  if (Status s = check_type(Operand::a, operands.a.dtype, problem.types.a); !s) return s;
  if (Status s = check_type(Operand::b, operands.b.dtype, problem.types.b); !s) return s;
  if (Status s = check_type(Operand::out, operands.out.dtype, problem.types.out); !s) return s;
  if (operands.accumulator != problem.types.accumulator) {
    return {unsupported, "Accumulator is unsupported: expected " +
                             std::string(to_string(operands.accumulator)) + ", got " +
                             std::string(to_string(problem.types.accumulator))};
  }
  if (Status s = check_math(row.metadata.design.math, problem.math); !s) return s;
  if (Status s = check_layout(Operand::a, operands.a.layout, problem.a); !s) return s;
  if (Status s = check_layout(Operand::b, operands.b.layout, problem.b); !s) return s;
  return check_layout(Operand::out, operands.out.layout, problem.out);
}

Status check_constraints(const Row& row, const GemmProblem& problem, const DeviceModel& device) {
  GemmProfile computed;
  return check_constraints(row, profile_of(row, device, computed), problem, device);
}

Status check_constraints(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                         const DeviceModel& device) {
  const KernelMetadata& kernel = row.metadata;
  if (device.cc < kernel.cc || (kernel.max_cc && device.cc > *kernel.max_cc)) {
    return check_compute_capability(kernel, device.cc);
  }
  if (!permits(kernel.modes, problem.controls)) return wrong_mode(problem.controls);
  if (!permits_batch(kernel.modes, problem)) return wrong_batch(problem);
  if (problem.controls.multiprocessors && !is_persistent(kernel.design)) return no_multiprocessors_control();
  return gemm_family(row).supports(profile, problem, device);
}

GemmProblem oriented(const Row& row, const GemmProblem& problem) {
  return row.exchanged ? exchanged(problem) : problem;
}

Status resolve(const Row& row, const GemmProblem& normalised, const Controls& kernel_controls,
               const DeviceModel& device, GemmProblem& problem, ChosenControls& controls) {
  if (Status s = check_model(device); !s) return s;
  if (Status s = check_signature(row, normalised); !s) return s;
  problem = oriented(row, normalised);
  if (Status s = check_constraints(row, problem, device); !s) return s;
  const Controls asked = problem.controls;
  problem.controls = merged(asked, row.exchanged ? exchanged(kernel_controls) : kernel_controls);
  // A query's choice for one problem need not go with another.
  if (!check_constraints(row, problem, device)) problem.controls = asked;
  controls = settle(row, problem, device);
  return {};
}

Status resolve(const Row& row, const GemmArguments& arguments, const Controls& kernel_controls,
               const DeviceModel& device, GemmProblem& problem, ChosenControls& controls) {
  if (Status s = check_operation(row, Operation::gemm); !s) return s;
  GemmProblem normalised;
  if (Status s = normalise(arguments, normalised); !s) return s;
  return resolve(row, normalised, kernel_controls, device, problem, controls);
}

bool is_precompiled(const Row& row, int cc) {
  if (entry_of(row.entry).unit < 0) return false;
  const auto targets = precompiled_targets();
  return std::any_of(targets.begin(), targets.end(),
                     [cc](int target) { return target / 10 == cc / 10 && target <= cc; });
}

}  // namespace quarry::detail
