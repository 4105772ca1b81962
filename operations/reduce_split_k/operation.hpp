/// What a reduction of split-K is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "chosen_controls.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/device_model.hpp"
#include "quarry/expression.hpp"
#include "quarry/reduce_split_k.hpp"
#include "quarry/status.hpp"
#include "reduce_split_k/family.hpp"

namespace quarry::detail::reduce_split_k {

/// The family of a row that reduces. @pre its operation is reduce_split_k
inline const ReduceFamily& family_of(const Row& row) {
  return static_cast<const ReduceFamily&>(row.family.get());
}

/// A reduction as logs of problems know it. Without padding: digested as bytes.
struct TuningQuestion {
  int m = 0;
  int n = 0;
  int batch = 0;
  int slices = 0;
  DType partials = DType::none;
  DType out = DType::none;
  Layout layout = Layout::row;
  Activation activation = Activation::identity;
  /// A bit for each part of the epilogue, and for the axes of bias and scale.
  std::uint32_t parts = 0;
};

struct Rules {
  using Arguments = ReduceSplitKArguments;
  using Problem = ReduceProblem;
  using TuningQuestion = reduce_split_k::TuningQuestion;

  static constexpr std::string_view no_tuning = "there is one kernel for each pair of types";

  static constexpr std::string_view no_recipe =
      "a reduction comes with each kernel that it follows, which permits split_k_parallel";

  static void operands(const ReduceSplitKArguments& arguments, OperandList& list);
  static Status check(const ReduceSplitKArguments& arguments, const OperandList& operands,
                      ReduceProblem& problem);
  static void describe(const ReduceSplitKArguments& arguments, ReduceProblem& problem);
  template <class Add>
  static void keys(const ReduceProblem& problem, const Add& add) {
    const Types types = {DType::none, DType::none, problem.partials, problem.out};
    add(functional_key(Operation::reduce_split_k, Math::exact, types,
                       {Layout::row, Layout::row, problem.layout}));
  }
  static Status no_kernel(const ReduceProblem& problem);
  static Status check_signature(const Row& row, const ReduceProblem& problem);
  /// @return 0: M is part of the question
  static std::int64_t tuning_question(const ReduceProblem& problem, TuningQuestion& question);
  /// Empty where partial sums are not packed. @pre check(arguments)
  static std::string command_text(const ReduceSplitKArguments& arguments);
  static Status check_constraints(const Row& row, const ReduceProblem& problem, const DeviceModel& device);
  static Estimate estimate(const Row& row, const ReduceProblem& problem, const DeviceModel& device,
                           std::size_t max_workspace);
  static Account account(const Row& row, const ReduceProblem& problem, const DeviceModel& device,
                         std::size_t max_workspace);
  static void launch(const Row& row, const ReduceProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
  /// Of the expression of a GEMM whose sums the kernel adds up. Arguments of this operation have none.
  static Result<std::string> expression_code(const Expression& expression, std::string_view name);
};

}  // namespace quarry::detail::reduce_split_k
