/// What a reorder is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// A reorder as logs of problems know it. Without padding: digested as bytes.
struct TuningQuestion {
  struct Side {
    std::int64_t line_stride = 0;
    std::int64_t element_stride = 0;
    std::int64_t batch_stride = 0;
    std::int32_t lines_are_rows = 0;
    std::int32_t interleaved = 0;
  };

  Side from;
  Side to;
  int rows = 0;
  int columns = 0;
  int batch = 0;
  int type = 0;
};

struct Rules {
  using Arguments = ReorderArguments;
  using Problem = ReorderProblem;
  using TuningQuestion = reorder::TuningQuestion;

  static constexpr std::string_view no_tuning = "there is one kernel for each element type";

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
  /// @return 0: what the problem's rows are depends on its layouts
  static std::int64_t tuning_question(const ReorderProblem& problem, TuningQuestion& question);
  /// Empty for strides that no flag says. @pre check(arguments)
  static std::string command_text(const ReorderArguments& arguments);
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
