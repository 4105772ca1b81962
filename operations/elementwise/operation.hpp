/// What elementwise is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chosen_controls.hpp"
#include "elementwise/family.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/device_model.hpp"
#include "quarry/elementwise.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::elementwise {

/// The family of a row that is elementwise. @pre its operation is elementwise
inline const ElementwiseFamily& family_of(const Row& row) {
  return static_cast<const ElementwiseFamily&>(row.family.get());
}

/// An elementwise problem as tuning tables know it, after it was simplified; beside it, its expression.
/// Without padding: digested as bytes.
struct TuningQuestion {
  std::int64_t extents[elementwise_extents] = {};
  std::int64_t strides[elementwise_tensors][elementwise_extents] = {};
  DType types[elementwise_tensors] = {};
  /// In bytes, 16 at most; 0 of a tensor with a single element.
  std::uint8_t alignments[elementwise_tensors] = {};
};

/// Everything of a problem that a kernel may go by but its expression. Without padding: digested as bytes.
struct Question {
  std::int64_t extents[elementwise_extents] = {};
  std::int64_t strides[elementwise_tensors][elementwise_extents] = {};
  DType types[elementwise_tensors] = {};
  std::uint16_t alignments[elementwise_tensors] = {};
  int inputs = 0;
  int tensors = 0;
};

struct Rules {
  using Arguments = ElementwiseArguments;
  using Problem = ElementwiseProblem;
  using Question = elementwise::Question;
  using TuningQuestion = elementwise::TuningQuestion;

  static void operands(const ElementwiseArguments& arguments, OperandList& list);
  static Status check(const ElementwiseArguments& arguments, const OperandList& operands,
                      ElementwiseProblem& problem);
  /// Checks all the same, and describes an empty problem where a check fails.
  static void describe(const ElementwiseArguments& arguments, ElementwiseProblem& problem);
  /// One key: kernels take tensors of all types.
  template <class Add>
  static void keys(const ElementwiseProblem&, const Add& add) {
    add(functional_key(Operation::elementwise, Math::exact, {}, {Layout::row, Layout::row, Layout::row}));
  }
  static Status no_kernel(const ElementwiseProblem& problem);
  static Status check_signature(const Row& row, const ElementwiseProblem& problem);
  static Question question(const ElementwiseProblem& problem);
  /// Question::expression of the memo, without the types of outputs, which are in the question; 0: bytes are
  /// copied.
  static std::uint64_t expression_word(const ElementwiseProblem& problem) {
    return problem.expression == nullptr ? 0 : problem.expression->hash();
  }
  /// @return 0: problems have no M
  static std::int64_t tuning_question(const ElementwiseProblem& problem, TuningQuestion& question);
  /// Of the expression with the types of its outputs; 0: bytes are copied.
  static std::uint64_t expression_hash(const ElementwiseProblem& problem);
  /// Empty where tensors do not lie as the flags `align` and `lines` say. @pre check(arguments)
  static std::string command_text(const ElementwiseArguments& arguments);
  static Status check_constraints(const Row& row, const ElementwiseProblem& problem,
                                  const DeviceModel& device);
  static Estimate estimate(const Row& row, const ElementwiseProblem& problem, const DeviceModel& device,
                           std::size_t max_workspace);
  static Account account(const Row& row, const ElementwiseProblem& problem, const DeviceModel& device,
                         std::size_t max_workspace);
  static std::size_t workspace_size(const Row& row, const ElementwiseProblem& problem,
                                    const ChosenControls& controls);
  static void launch(const Row& row, const ElementwiseProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
  static KnownExpression known_expression(const ElementwiseProblem& problem);
  static Result<std::string> expression_code(const Expression& expression, std::string_view name);
};

}  // namespace quarry::detail::elementwise
