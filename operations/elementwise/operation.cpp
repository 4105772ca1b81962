#include "operations/elementwise/operation.hpp"

#include <vector>

#include "operations/common/expression/interned.hpp"
#include "operations/elementwise/code.hpp"
#include "operations/elementwise/executor.hpp"
#include "operations/elementwise/problem.hpp"

namespace quarry::detail::elementwise {
namespace {

/// The types of the expression's outputs.
std::vector<DType> output_types(const ElementwiseProblem& problem) {
  std::vector<DType> outputs;
  for (int i = problem.inputs; i < problem.tensors; ++i) outputs.push_back(problem.operands[i].type);
  return outputs;
}

}  // namespace

Status Rules::check(const ElementwiseArguments& arguments, const OperandList& operands,
                    ElementwiseProblem& problem) {
  if (Status s = normalise(arguments, operands, problem); !s) return s;
  simplify(problem);
  return {};
}

void Rules::describe(const ElementwiseArguments& arguments, ElementwiseProblem& problem) {
  OperandList list;
  operands(arguments, list);
  if (!check(arguments, list, problem)) problem = ElementwiseProblem();
}

Status Rules::no_kernel(const ElementwiseProblem&) {
  return {StatusCode::no_kernel, "This library has no elementwise kernels"};
}

Status Rules::check_signature(const Row&, const ElementwiseProblem&) { return {}; }

Status Rules::check_constraints(const Row& row, const ElementwiseProblem& problem, const DeviceModel&) {
  return family_of(row).supports(row.entry_config, problem);
}

Estimate Rules::estimate(const Row& row, const ElementwiseProblem& problem, const DeviceModel& device,
                         std::size_t) {
  return {.controls = {},
          .seconds = family_of(row).account(row.entry_config, problem, device).seconds,
          .workspace = family_of(row).workspace_size(row.entry_config, problem)};
}

Account Rules::account(const Row& row, const ElementwiseProblem& problem, const DeviceModel& device,
                       std::size_t) {
  return family_of(row).account(row.entry_config, problem, device);
}

std::size_t Rules::workspace_size(const Row& row, const ElementwiseProblem& problem, const ChosenControls&) {
  return family_of(row).workspace_size(row.entry_config, problem);
}

void Rules::launch(const Row& row, const ElementwiseProblem& problem, const ChosenControls&, Launch& launch) {
  family_of(row).launch(row.entry_config, problem, launch);
  if (!launch.is_empty() && problem.expression != nullptr)
    launch.expression = interned(*problem.expression, output_types(problem));
}

Status Rules::run_on_host(const Row&, const Launch& launch, const std::byte* image) {
  return host::execute(params_of<ElementwiseParams>(image, *kernel_step(launch)), launch.expression);
}

KnownExpression Rules::known_expression(const ElementwiseProblem& problem) {
  if (problem.expression == nullptr) return std::nullopt;
  return find_interned(*problem.expression, output_types(problem));
}

Result<std::string> Rules::expression_code(const Expression& expression, std::string_view name) {
  return code_of(expression, name);
}

}  // namespace quarry::detail::elementwise
