#include "operations/reorder/operation.hpp"

#include <string>

#include "operations/common/row_checks.hpp"
#include "operations/reorder/executor.hpp"
#include "operations/reorder/problem.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail::reorder {

Status Rules::check(const ReorderArguments& arguments, const OperandList& operands, ReorderProblem& problem) {
  return normalise(arguments, operands, problem);
}

void Rules::describe(const ReorderArguments& arguments, ReorderProblem& problem) {
  detail::describe(arguments, problem);
}

Status Rules::no_kernel(const ReorderProblem& problem) {
  return {StatusCode::no_kernel, "No kernel is registered for matrices of " +
                                     std::string(to_string(problem.type)) +
                                     ": elements that are whole bytes are reordered"};
}

Status Rules::check_signature(const Row& row, const ReorderProblem& problem) {
  return check_type(Operand::to, row.metadata.operands.out.dtype, problem.type);
}

Status Rules::check_constraints(const Row&, const ReorderProblem&, const DeviceModel&) { return {}; }

Estimate Rules::estimate(const Row& row, const ReorderProblem& problem, const DeviceModel& device,
                         std::size_t) {
  return {.controls = {}, .seconds = family_of(row).account(row.entry_config, problem, device).seconds};
}

Account Rules::account(const Row& row, const ReorderProblem& problem, const DeviceModel& device,
                       std::size_t) {
  return family_of(row).account(row.entry_config, problem, device);
}

void Rules::launch(const Row& row, const ReorderProblem& problem, const ChosenControls&, Launch& launch) {
  family_of(row).launch(row.entry_config, problem, launch);
}

Status Rules::run_on_host(const Row& row, const Launch& launch, const std::byte* image) {
  return host::execute(row.metadata, params_of<ReorderParams>(image, *kernel_step(launch)));
}

}  // namespace quarry::detail::reorder
