/// What a reorder is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>

#include "chosen_controls.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/device_model.hpp"
#include "quarry/reorder.hpp"
#include "quarry/status.hpp"
#include "reorder_matrix/family.hpp"

namespace quarry::detail::reorder {

/// The family of a row that reorders. @pre its operation is reorder
inline const ReorderFamily& family_of(const Row& row) {
  return static_cast<const ReorderFamily&>(row.family.get());
}

struct Rules {
  using Arguments = ReorderArguments;
  using Problem = ReorderProblem;

  static void operands(const ReorderArguments& arguments, OperandList& list);
  static Status check(const ReorderArguments& arguments, const OperandList& operands,
                      ReorderProblem& problem);
  static void describe(const ReorderArguments& arguments, ReorderProblem& problem);
  template <class Add>
  static void keys(const ReorderProblem& problem, const Add& add) {
    const Types types = {DType::none, DType::none, DType::none, problem.type};
    add(functional_key(Operation::reorder, Math::exact, types, {Layout::row, Layout::row, Layout::row}));
  }
  static Status no_kernel(const ReorderProblem& problem);
  static Status check_signature(const Row& row, const ReorderProblem& problem);
  static Status check_constraints(const Row& row, const ReorderProblem& problem, const DeviceModel& device);
  static Estimate estimate(const Row& row, const ReorderProblem& problem, const DeviceModel& device,
                           std::size_t max_workspace);
  static Account account(const Row& row, const ReorderProblem& problem, const DeviceModel& device,
                         std::size_t max_workspace);
  static void launch(const Row& row, const ReorderProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
};

}  // namespace quarry::detail::reorder
