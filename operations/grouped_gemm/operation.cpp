#include "operations/grouped_gemm/operation.hpp"

#include <string>

#include "gemm/host.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/gemm/host_expression.hpp"
#include "operations/gemm/scale_support.hpp"
#include "operations/grouped_gemm/executor.hpp"
#include "operations/grouped_gemm/problem.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::grouped_gemm {
Status Rules::check(const GroupedGemmArguments& arguments, const OperandList& operands,
                    GroupedGemmProblem& problem) {
  return normalise(arguments, operands, problem);
}

void Rules::describe(const GroupedGemmArguments& arguments, GroupedGemmProblem& problem) {
  grouped_gemm::describe(arguments, problem);
}

Status Rules::no_kernel(const GroupedGemmProblem& problem) {
  return no_kernel_of("grouped GEMMs", problem.gemm.types);
}

Status Rules::check_signature(const Row& row, const GroupedGemmProblem& problem) {
  return detail::check_signature(row, problem.gemm);
}

GemmProfile Rules::profile(const Row& row, const DeviceModel& device) {
  return family_of(row).profile(row.entry_config, device);
}

Status Rules::check_constraints(const Row& row, const GemmProfile& profile, const GroupedGemmProblem& problem,
                                const DeviceModel& device) {
  if (Status s = check_scales_or_expression(row, problem.gemm); !s) return s;
  return family_of(row).supports(profile, problem, device);
}

Estimate Rules::estimate(const Row& row, const GemmProfile& profile, const GroupedGemmProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace) {
  return {.controls = {},
          .seconds = account(row, profile, problem, device, max_workspace).seconds,
          .workspace = family_of(row).workspace(row.entry_config, problem)};
}

Account Rules::account(const Row& row, const GemmProfile& profile, const GroupedGemmProblem& problem,
                       const DeviceModel&, std::size_t) {
  // Nothing is launched for outputs without elements; the time of no tiles would be no number.
  if (is_empty(problem.gemm) || span_count(problem.groups) == 0) return {};
  return with_reductions(family_of(row).account(profile, problem), profile, problem.gemm);
}

std::size_t Rules::workspace_size(const Row& row, const GroupedGemmProblem& problem, const ChosenControls&) {
  return family_of(row).workspace(row.entry_config, problem);
}

ChosenControls Rules::settle(const Row&, const GemmProfile& profile, const Controls&,
                             const DeviceModel& device, GroupedGemmProblem&) {
  return {.multiprocessors = device.multiprocessors, .resident = profile.resident};
}

void Rules::launch(const Row& row, const GroupedGemmProblem& problem, const ChosenControls& controls,
                   Launch& launch) {
  family_of(row).launch(row.entry_config, problem, controls, launch);
  if (!launch.is_empty() && problem.gemm.expressed) add_expression(problem.gemm, false, launch);
}

Status Rules::run_on_host(const Row& row, const Launch& launch, const std::byte* image) {
  const Step& step = *kernel_step(launch);
  const GroupedGemmParams params = family_of(row).params(image, step);
  if (launch.expression == nullptr)
    return host::execute(host::host_kernel(row), params, launched_scales(row, launch, image));
  const host::GemmExpression expression = {launch.expression->expression.graph(),
                                           expression_params(image, step)};
  return host::execute(host::host_kernel(row), params, {}, &expression);
}

std::uint64_t Rules::expression_hash(const GroupedGemmProblem& problem) {
  const GivenExpression& given = problem.gemm.expressed;
  return given ? detail::expression_hash(given) : 0;
}

std::uint64_t Rules::expression_word(const GroupedGemmProblem& problem) {
  const GivenExpression& given = problem.gemm.expressed;
  return given ? detail::expression_word(given) : 0;
}

KnownExpression Rules::known_expression(const GroupedGemmProblem& problem) {
  const GivenExpression& given = problem.gemm.expressed;
  return given ? known(given) : std::nullopt;
}

Result<std::string> Rules::expression_code(const Expression& expression, std::string_view name) {
  return gemm::code_of(expression, name);
}

}  // namespace quarry::detail::grouped_gemm
