#include "operations/gemm/operation.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "gemm/host.hpp"
#include "gemm/reductions.hpp"
#include "operations/common/controls.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/row_checks.hpp"
#include "operations/gemm/executor.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/gemm/host_expression.hpp"
#include "operations/gemm/normalise.hpp"
#include "operations/gemm/operands.hpp"
#include "operations/gemm/scale_support.hpp"

namespace quarry::detail::gemm {
namespace {

constexpr auto unsupported = StatusCode::unsupported;

/// The modes of a kernel in which it computes a problem.
ModesMetadata modes_for(const GemmProblem& problem, ModesMetadata modes) {
  if (problem.wide.has_any()) modes.split_k_parallel = modes.split_k_cluster = false;
  return modes;
}

/// Whether check_wishes has nothing to refuse: a problem asks for nothing that only some of a family's
/// kernels have: most do not, and a query asks this of every kernel.
bool asks_little(const KernelMetadata& kernel, const GemmProblem& problem) {
  const Controls& c = problem.controls;
  return kernel.operands.scales == ScaleSupport::none && !problem.scales.a.is_given &&
         !problem.scales.b.is_given && !problem.must_promote && !c.mode && !c.split_k_slices;
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

/// Whether sums are as exact as a problem asks for.
Status check_accumulation(const KernelMetadata& kernel, const GemmProblem& problem) {
  const bool promotes = kernel.operands.scales == ScaleSupport::block_scales;
  if (!problem.must_promote || promotes || kernel.design.math_unit == MathUnit::simt) return {};
  return {unsupported,
          "Accumulation is unsupported: expected fast, got precise; kernels on tensor cores that take scales "
          "of blocks promote their sums"};
}

Status wrong_mode(const GemmProblem& problem) {
  const Controls& controls = problem.controls;
  if (controls.mode == Mode::split_k_parallel && problem.wide.has_any())
    return {unsupported,
            "Mode `split_k_parallel` is unsupported with gated pairs and reductions: the kernel that adds up "
            "the slices computes each element by itself"};
  if (controls.mode == Mode::split_k_cluster && problem.wide.has_any())
    return {
        unsupported,
        "Mode `split_k_cluster` is unsupported with gated pairs and reductions: blocks of a cluster finish "
        "parts of a tile"};
  return no_such_cut(controls);
}

Status no_expression() {
  return {unsupported,
          "The expression is unsupported: kernels that take scales compute one if these are scales of "
          "blocks, and if both "
          "operands have as many bits"};
}

Status nothing_to_copy() {
  return {unsupported,
          "Nothing has to be copied first: the kernel of the same tile takes these operands as they are"};
}

/// Whether a kernel has the scales, the exact sums and the mode that a problem asks for.
Status check_wishes(const KernelMetadata& kernel, const GemmProblem& problem) {
  if (problem.expressed && !takes_expression(kernel.operands)) return no_expression();
  if (Status s = check_scales(kernel.operands.scales, problem); !s) return s;
  if (Status s = check_accumulation(kernel, problem); !s) return s;
  return permits(modes_for(problem, kernel.modes), problem.controls) ? Status() : wrong_mode(problem);
}

/// Calls `use` with the problem as a row's family sees it.
template <class Use>
auto as_seen_by(const Row& row, const GemmProblem& problem, const Use& use) {
  if (!row.metadata.design.reorders) return use(problem);
  GemmProblem seen = problem;
  seen.reorders = true;
  return use(seen);
}

/// Mode, slices and the order of tiles, by the family's estimate where they are open.
ChosenControls chosen(const Row& row, const GemmProfile& profile, const GemmProblem& problem) {
  const Controls& c = problem.controls;
  if (c.mode && c.split_k_slices && c.swizzle && c.raster) {
    return {*c.mode, *c.split_k_slices, *c.swizzle, *c.raster};
  }
  constexpr std::size_t any_workspace = std::numeric_limits<std::size_t>::max();
  return as_seen_by(row, problem, [&](const GemmProblem& seen) {
    return family_of(row).estimate(profile, seen, any_workspace).controls;
  });
}

/// Whether the step that computes the launch's expression sees the output of the GEMM's step transposed: a
/// reduction does so where that output is column-major.
bool reduces_transpose(const Row& row, const Launch& launch) {
  return launch.expression_entry != 0 && host::host_kernel(row).layouts.out == Layout::column;
}

/// The tensors of the launch's expression, in the orientation of the GEMM's step.
ExpressionParams launched_tensors(const Row& row, const Launch& launch, const std::byte* image) {
  ExpressionParams params = expression_params(image, *kernel_step(launch, launch.expression_entry));
  if (!reduces_transpose(row, launch)) return params;
  transpose(launch.expression->expression, params);
  return params;
}

}  // namespace

const GemmFamily& family_of(const Row& row) { return static_cast<const GemmFamily&>(row.family.get()); }

void Rules::operands(const GemmArguments& arguments, OperandList& list) { list_operands(arguments, list); }

Status Rules::check(const GemmArguments& arguments, const OperandList& operands, GemmProblem& problem) {
  return normalise(arguments, operands, problem);
}

Status Rules::check_controls(const Controls& controls) { return detail::check_controls(controls); }

void Rules::describe(const GemmArguments& arguments, GemmProblem& problem) {
  detail::describe(arguments, problem);
}

GemmProblem Rules::exchanged(const GemmProblem& problem) { return quarry::exchanged(problem); }

GemmProfile Rules::profile(const Row& row, const DeviceModel& device) {
  const GemmFamily& family = family_of(row);
  GemmProfile profile = family.profile(row.entry_config, device);
  profile.family = &family;
  const KernelMetadata& kernel = row.metadata;
  profile.takes_plain = check_compute_capability(kernel, device.cc) &&
                        kernel.operands.scales == ScaleSupport::none && kernel.modes.batched &&
                        profile.traits.shared_memory <= device.shared_memory_per_block;
  return profile;
}

void Rules::weigh(GemmProblem& problem) {
  problem.traffic = traffic_of(problem);
  problem.traffic->roots = split_k_roots(problem);
}

Status Rules::check_constraints(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                                const DeviceModel& device) {
  const KernelMetadata& kernel = row.metadata;
  if (!asks_little(kernel, problem)) {
    if (Status s = check_wishes(kernel, problem); !s) return s;
  }
  if (!permits_batch(kernel.modes, problem)) return wrong_batch(problem);
  if (Status s = check_multiprocessors(kernel.design, problem.controls); !s) return s;
  return as_seen_by(row, problem, [&](const GemmProblem& seen) -> Status {
    if (Status s = profile.family->supports(profile, seen, device); !s) return s;
    // Another row runs the same kernel without copies.
    if (seen.reorders && !profile.family->copies_operands(profile, seen)) return nothing_to_copy();
    return {};
  });
}

Estimate Rules::estimate_reduced(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                                 std::size_t max_workspace) {
  Estimate estimate = as_seen_by(row, problem, [&](const GemmProblem& seen) {
    return profile.family->estimate(profile, seen, max_workspace);
  });
  // Nothing is launched for an output without elements; the time of no tiles would be no number.
  estimate.seconds = is_empty(problem) ? 0 : estimate.seconds + reduction_seconds(profile, problem);
  if (problem.wide.has_lines()) {
    const std::size_t all = workspace_size(row, problem, estimate.controls);
    estimate.workspace = std::max(estimate.workspace, all);
  }
  return estimate;
}

Account Rules::account(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                       const DeviceModel&, std::size_t max_workspace) {
  if (is_empty(problem)) return {};
  Account account = as_seen_by(row, problem, [&](const GemmProblem& seen) {
    return family_of(row).account(profile, seen, max_workspace);
  });
  const double reductions = reduction_seconds(profile, problem);
  account.seconds += reductions;
  account[TimePart::exchange] += reductions;
  return account;
}

ChosenControls Rules::settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                             const DeviceModel& device, GemmProblem& problem) {
  const Controls asked = problem.controls;
  problem.controls = merged(asked, of_kernel);
  // A query's choice for one problem need not go with another.
  if (of_kernel.mode && !check_constraints(row, profile, problem, device)) problem.controls = asked;
  ChosenControls controls = chosen(row, profile, problem);
  controls.multiprocessors =
      std::min(problem.controls.multiprocessors.value_or(device.multiprocessors), device.multiprocessors);
  if (row.metadata.modes.stream_k) controls.resident = profile.resident;
  return controls;
}

std::size_t Rules::workspace_size(const Row& row, const GemmProblem& problem,
                                  const ChosenControls& controls) {
  return as_seen_by(row, problem, [&](const GemmProblem& seen) {
    return family_of(row).workspace_size(row.entry_config, seen, controls);
  });
}

void Rules::launch(const Row& row, const GemmProblem& problem, const ChosenControls& controls,
                   Launch& launch) {
  as_seen_by(row, problem, [&](const GemmProblem& seen) {
    family_of(row).launch(row.entry_config, seen, controls, launch);
  });
  if (launch.is_empty() || !problem.expressed) return;
  add_expression(problem, problem.is_exchanged != reduces_transpose(row, launch), launch);
}

Status Rules::run_on_host(const Row& row, const Launch& launch, const std::byte* image) {
  const Step& step = *kernel_step(launch);
  const GemmParams params = family_of(row).host_params(launch, image);
  if (launch.expression == nullptr) {
    return host::execute(host::host_kernel(row), params, launched_scales(row, launch, image), step.grid);
  }
  const ExpressionParams tensors = launched_tensors(row, launch, image);
  const host::GemmExpression expression = {launch.expression->expression.graph(), tensors};
  return host::execute(host::host_kernel(row), params, launched_scales(row, launch, image), step.grid, 0,
                       &expression);
}

KnownExpression Rules::known_expression(const GemmProblem& problem) {
  return problem.expressed ? known(problem.expressed) : std::nullopt;
}

Result<std::string> Rules::expression_code(const Expression& expression, std::string_view name) {
  return code_of(expression, name);
}

}  // namespace quarry::detail::gemm
