#include "operations/gemm_list/operation.hpp"

#include <string>

#include "gemm/host.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/gemm/host_expression.hpp"
#include "operations/gemm/scale_support.hpp"
#include "operations/gemm_list/executor.hpp"
#include "operations/gemm_list/host_problem.hpp"
#include "operations/gemm_list/problem.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::gemm_list {
namespace {

/// Whether `sizes` have the tiles that the host counted, unless sizes that make no sense are to be clamped.
Status check_promise(const GemmListParams& params, Tile tile, int unit) {
  return params.list.clamp_host_sizes ? Status() : host::check_stretches(params, tile, unit);
}

}  // namespace

Status Rules::check(const GemmListArguments& arguments, const OperandList& operands,
                    GemmListProblem& problem) {
  return normalise(arguments, operands, problem);
}

void Rules::describe(const GemmListArguments& arguments, GemmListProblem& problem) {
  gemm_list::describe(arguments, problem);
}

Status Rules::no_kernel(const GemmListProblem& problem) {
  return no_kernel_of("lists of GEMMs", problem.gemm.types);
}

Status Rules::check_signature(const Row& row, const GemmListProblem& problem) {
  return detail::check_signature(row, problem.gemm);
}

GemmProfile Rules::profile(const Row& row, const DeviceModel& device) {
  return family_of(row).profile(row.entry_config, device);
}

Status Rules::check_constraints(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                                const DeviceModel& device) {
  if (Status s = check_scales_or_expression(row, problem.gemm); !s) return s;
  if (Status s = family_of(row).supports(profile, problem, device); !s) return s;
  return check_halves(profile.traits, problem);
}

Estimate Rules::estimate(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace) {
  return {.controls = {},
          .seconds = account(row, profile, problem, device, max_workspace).seconds,
          .workspace = family_of(row).workspace(row.entry_config, problem)};
}

Account Rules::account(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                       const DeviceModel&, std::size_t) {
  // Nothing is launched for outputs without elements; the time of no tiles would be no number.
  if (is_empty(problem.gemm)) return {};
  return with_reductions(family_of(row).account(profile, problem), profile, problem.gemm);
}

ChosenControls Rules::settle(const Row&, const GemmProfile& profile, const Controls&,
                             const DeviceModel& device, GemmListProblem&) {
  return {.multiprocessors = device.multiprocessors, .resident = profile.resident};
}

std::size_t Rules::workspace_size(const Row& row, const GemmListProblem& problem, const ChosenControls&) {
  return family_of(row).workspace(row.entry_config, problem);
}

void Rules::launch(const Row& row, const GemmListProblem& problem, const ChosenControls& controls,
                   Launch& launch) {
  family_of(row).launch(row.entry_config, problem, controls, launch);
  if (!launch.is_empty() && problem.gemm.expressed) add_expression(problem.gemm, false, launch);
}

Status Rules::run_on_host(const Row& row, const Launch& launch, const std::byte* image) {
  const OperandsMetadata& operands = row.metadata.operands;
  const Alignment alignment = {operands.a.alignment, operands.b.alignment};
  const Step& step = *kernel_step(launch);
  const GemmListParams params = family_of(row).params(image, step);
  const Tile tile = family_of(row).walked_tile(row.entry_config);
  if (launch.expression == nullptr) {
    if (Status s = check_promise(params, tile, 1); !s) return s;
    return host::execute(host::host_kernel(row), alignment, params, launched_scales(row, launch, image));
  }
  const host::GemmExpression expression = {launch.expression->expression.graph(),
                                           expression_params(image, step)};
  const expression::Pairs pairs = expression.graph.pairs;
  const int unit = pairs == expression::Pairs::none
                       ? 1
                       : pair_unit(pairs == expression::Pairs::eights, operands.b.layout, alignment.b);
  if (Status s = check_promise(params, tile, unit); !s) return s;
  return host::execute(host::host_kernel(row), alignment, params, {}, &expression, unit);
}

std::uint64_t Rules::expression_hash(const GemmListProblem& problem) {
  const GivenExpression& given = problem.gemm.expressed;
  return given ? detail::expression_hash(given) : 0;
}

std::uint64_t Rules::expression_word(const GemmListProblem& problem) {
  const GivenExpression& given = problem.gemm.expressed;
  return given ? detail::expression_word(given) : 0;
}

KnownExpression Rules::known_expression(const GemmListProblem& problem) {
  const GivenExpression& given = problem.gemm.expressed;
  return given ? known(given) : std::nullopt;
}

Result<std::string> Rules::expression_code(const Expression& expression, std::string_view name) {
  return gemm::code_of(expression, name);
}

}  // namespace quarry::detail::gemm_list
