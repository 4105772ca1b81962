/// What a convolution is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "chosen_controls.hpp"
#include "conv2d/family.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/gemm/whole_question.hpp"
#include "quarry/conv2d.hpp"
#include "quarry/device_model.hpp"
#include "quarry/expression.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::conv2d {

/// The family of a row that computes convolutions. @pre its operation is conv2d
inline const Conv2dFamily& family_of(const Row& row) {
  return static_cast<const Conv2dFamily&>(row.family.get());
}

/// A convolution as tuning tables know it: its product and its windows. Without padding: digested as bytes.
struct TuningQuestion {
  /// Along rows or columns of images.
  struct Axis {
    int extent = 0;
    int places = 0;
    int stride = 0;
    int padding = 0;
    int dilation = 0;
    int taps = 0;
  };

  /// Of the operands the alignment alone.
  gemm::Question product;
  Axis rows;
  Axis columns;
  int channels = 0;
  Direction direction = Direction::fprop;
  std::uint8_t flips = 0;
  std::uint8_t interleaved = 0;
  std::uint8_t unused = 0;
};

/// Everything of a convolution that a kernel may go by. Without padding: digested as bytes.
struct Question {
  gemm::WholeQuestion product;
  std::array<std::int64_t, 2> group_strides = {};  ///< of A and B
  TuningQuestion::Axis rows;
  TuningQuestion::Axis columns;
  int channels = 0;
  Direction direction = Direction::fprop;
  std::uint8_t flips = 0;
  std::uint8_t interleaved = 0;
  std::uint8_t whole_k = 0;
};

struct Rules {
  using Arguments = Conv2dArguments;
  using Problem = Conv2dProblem;
  using Profile = GemmProfile;
  using Question = conv2d::Question;
  using TuningQuestion = conv2d::TuningQuestion;

  static void operands(const Conv2dArguments& arguments, OperandList& list);
  static Status check(const Conv2dArguments& arguments, const OperandList& operands, Conv2dProblem& problem);
  static void describe(const Conv2dArguments& arguments, Conv2dProblem& problem);
  template <class Add>
  static void keys(const Conv2dProblem& problem, const Add& add) {
    const Layout layout = problem.interleaved ? Layout::column_interleaved32 : Layout::row;
    const auto key = [&](Math math) {
      return functional_key(Operation::conv2d, math, problem.product.types, {layout, layout, layout}, false,
                            problem.direction);
    };
    add(key(Math::exact));
    if (problem.product.math != Math::exact) add(key(problem.product.math));
  }
  static Status no_kernel(const Conv2dProblem& problem);
  static Status check_signature(const Row& row, const Conv2dProblem& problem);
  static Question question(const Conv2dProblem& problem);
  /// @return 0: problems have no M
  static std::int64_t tuning_question(const Conv2dProblem& problem, TuningQuestion& question);
  /// Digest of the expression and the types of its outputs; 0 for a problem without an expression.
  static std::uint64_t expression_hash(const Conv2dProblem& problem);
  /// Question::expression of the memo.
  static std::uint64_t expression_word(const Conv2dProblem& problem);
  static KnownExpression known_expression(const Conv2dProblem& problem);
  /// Empty where positions of a tensor do not lie at even distances. @pre check(arguments)
  static std::string command_text(const Conv2dArguments& arguments);

  static GemmProfile profile(const Row& row, const DeviceModel& device);
  static Status check_constraints(const Row& row, const GemmProfile& profile, const Conv2dProblem& problem,
                                  const DeviceModel& device);
  static Estimate estimate(const Row& row, const GemmProfile& profile, const Conv2dProblem& problem,
                           const DeviceModel& device, std::size_t max_workspace);
  static Account account(const Row& row, const GemmProfile& profile, const Conv2dProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace);
  /// The arguments' controls, the kernel's where these leave something open, and then the estimate's.
  static ChosenControls settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                               const DeviceModel& device, Conv2dProblem& problem);
  static std::size_t workspace_size(const Row& row, const Conv2dProblem& problem,
                                    const ChosenControls& controls);
  static void launch(const Row& row, const Conv2dProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
  static Result<std::string> expression_code(const Expression& expression, std::string_view name);
};

}  // namespace quarry::detail::conv2d
