#include "operations/conv2d/operation.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "operations/common/controls.hpp"
#include "operations/common/epilogue_operands.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/row_checks.hpp"
#include "operations/conv2d/executor.hpp"
#include "operations/conv2d/expression.hpp"
#include "operations/conv2d/problem.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/gemm/host_expression.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::conv2d {
namespace {

std::string word(DType type) { return std::string(to_string(type)); }

/// What of the epilogue a kernel does not take.
Status check_epilogue_parts(const EpilogueMetadata& kernel, const GemmProblem& product) {
  const auto refused = [](Operand name) { return Status(StatusCode::unsupported, Reason::no_operand, name); };
  if (product.has_scale && !kernel.scale) return refused(Operand::scale);
  if (product.has_residual && !kernel.residual) return refused(Operand::residual);
  if (product.has_aux && !kernel.aux) return refused(Operand::aux);
  return {};
}

}  // namespace

void Rules::operands(const Conv2dArguments& args, OperandList& list) {
  const bool is_unused = is_zero(args.epilogue.alpha);
  list.add({.name = Operand::out, .view = &args.out, .is_output = true});
  list.add({.name = Operand::a, .view = &args.a, .is_unused = is_unused});
  list.add({.name = Operand::b, .view = &args.b, .is_unused = is_unused});
  if (args.expression) return list_tensors(given_expression(args), list);
  list_operands(args.c, args.epilogue, list);
}

Status Rules::check(const Conv2dArguments& arguments, const OperandList& operands, Conv2dProblem& problem) {
  return normalise(arguments, operands, problem);
}

void Rules::describe(const Conv2dArguments& arguments, Conv2dProblem& problem) {
  conv2d::describe(arguments, problem);
}

Status Rules::no_kernel(const Conv2dProblem& problem) {
  const Types& t = problem.product.types;
  return {StatusCode::no_kernel, "No kernel is registered for " + std::string(to_string(problem.direction)) +
                                     " of operands a " + word(t.a) + ", b " + word(t.b) + ", accumulator " +
                                     word(t.accumulator) + ", out " + word(t.out) +
                                     (problem.interleaved ? ", channels in groups of 32" : "")};
}

Status Rules::check_signature(const Row& row, const Conv2dProblem& problem) {
  const KernelMetadata& kernel = row.metadata;
  const Types& t = problem.product.types;
  if (kernel.direction != problem.direction) {
    return {StatusCode::unsupported, "Direction `" + std::string(to_string(problem.direction)) +
                                         "` is unsupported: the kernel computes " +
                                         std::string(to_string(kernel.direction.value_or(Direction::fprop)))};
  }
  if (is_interleaved(kernel.operands.out.layout) != problem.interleaved) {
    return {StatusCode::unsupported,
            problem.interleaved
                ? "Channels in groups of 32 are unsupported: the kernel takes neighbouring channels"
                : "Neighbouring channels are unsupported: the kernel takes channels in groups of 32"};
  }
  if (Status s = check_type(Operand::a, kernel.operands.a.dtype, t.a); !s) return s;
  if (Status s = check_type(Operand::b, kernel.operands.b.dtype, t.b); !s) return s;
  if (Status s = check_type(Operand::out, kernel.operands.out.dtype, t.out); !s) return s;
  if (kernel.operands.accumulator != t.accumulator) {
    return {StatusCode::unsupported, "Accumulator is unsupported: expected " +
                                         word(kernel.operands.accumulator) + ", got " + word(t.accumulator)};
  }
  return check_math(kernel.design.math, problem.product.math);
}

GemmProfile Rules::profile(const Row& row, const DeviceModel& device) {
  return family_of(row).profile(row.entry_config, device);
}

Status Rules::check_constraints(const Row& row, const GemmProfile& profile, const Conv2dProblem& problem,
                                const DeviceModel& device) {
  const KernelMetadata& kernel = row.metadata;
  const Controls& controls = problem.product.controls;
  if (!permits(kernel.modes, controls)) return no_such_cut(controls);
  if (Status s = check_multiprocessors(kernel.design, controls); !s) return s;
  if (Status s = check_epilogue_parts(kernel.epilogue, problem.product); !s) return s;
  return family_of(row).supports(profile, problem, device);
}

Estimate Rules::estimate(const Row& row, const GemmProfile& profile, const Conv2dProblem& problem,
                         const DeviceModel&, std::size_t max_workspace) {
  return family_of(row).estimate(profile, problem, max_workspace);
}

Account Rules::account(const Row& row, const GemmProfile& profile, const Conv2dProblem& problem,
                       const DeviceModel&, std::size_t max_workspace) {
  return family_of(row).account(profile, problem, max_workspace);
}

ChosenControls Rules::settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                             const DeviceModel& device, Conv2dProblem& problem) {
  Controls& c = problem.product.controls;
  const Controls asked = c;
  c = merged(asked, of_kernel);
  // A query's choice for one problem need not go with another.
  if (of_kernel.mode && !check_constraints(row, profile, problem, device)) c = asked;
  constexpr std::size_t any_workspace = std::numeric_limits<std::size_t>::max();
  const bool is_settled = c.mode && c.split_k_slices && c.swizzle && c.raster;
  ChosenControls controls = is_settled ? ChosenControls{*c.mode, *c.split_k_slices, *c.swizzle, *c.raster}
                                       : family_of(row).estimate(profile, problem, any_workspace).controls;
  controls.multiprocessors =
      std::min(c.multiprocessors.value_or(device.multiprocessors), device.multiprocessors);
  return controls;
}

std::size_t Rules::workspace_size(const Row& row, const Conv2dProblem& problem,
                                  const ChosenControls& controls) {
  return family_of(row).workspace_size(row.entry_config, problem, controls);
}

void Rules::launch(const Row& row, const Conv2dProblem& problem, const ChosenControls& controls,
                   Launch& launch) {
  family_of(row).launch(row.entry_config, problem, controls, launch);
  if (!launch.is_empty() && problem.product.expressed) add_expression(problem.product, false, launch);
}

Status Rules::run_on_host(const Row& row, const Launch& launch, const std::byte* image) {
  const Conv2dParams params = family_of(row).host_params(row.entry_config, launch, image);
  if (launch.expression == nullptr) return host::execute(row.metadata, params);
  const Step& step = *kernel_step(launch);
  const ExpressionParams& tensors = expression_params(image, *kernel_step(launch, launch.expression_entry));
  const host::ConvolutionExpression expression = {{launch.expression->expression.graph(), tensors},
                                                  params_of<GemmParams>(image, step).out};
  return host::execute(row.metadata, params, 0, &expression);
}

std::uint64_t Rules::expression_hash(const Conv2dProblem& problem) {
  const GivenExpression& given = problem.product.expressed;
  return given ? detail::expression_hash(given) : 0;
}

std::uint64_t Rules::expression_word(const Conv2dProblem& problem) {
  const GivenExpression& given = problem.product.expressed;
  return given ? detail::expression_word(given) : 0;
}

KnownExpression Rules::known_expression(const Conv2dProblem& problem) {
  const GivenExpression& given = problem.product.expressed;
  return given ? known(given) : std::nullopt;
}

Result<std::string> Rules::expression_code(const Expression& expression, std::string_view name) {
  return gemm::code_of(expression, name);
}

}  // namespace quarry::detail::conv2d
