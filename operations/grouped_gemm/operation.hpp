/// What a grouped GEMM is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "grouped_gemm/family.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "operations/gemm/many_gemms.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/gemm/whole_question.hpp"
#include "quarry/device_model.hpp"
#include "quarry/expression.hpp"
#include "quarry/grouped_gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::grouped_gemm {

/// The family of a row that computes grouped GEMMs. @pre its operation is grouped_gemm
inline const GroupedGemmFamily& family_of(const Row& row) {
  return static_cast<const GroupedGemmFamily&>(row.family.get());
}

/// A grouped GEMM as tuning tables know it. What the sizes are is not known. Without padding: digested as
/// bytes.
struct TuningQuestion {
  /// As if all groups were full.
  gemm::Question full;
  int groups = 0;
  int room = 0;
  /// The two halves of the expected total.
  std::uint32_t expected_high = 0;
  std::uint32_t expected_low = 0;
  /// 0: not known.
  std::uint32_t expected_largest_high = 0;
  std::uint32_t expected_largest_low = 0;
  GroupForm form = GroupForm::contiguous;
  std::uint8_t sizes_are_ends = 0;
  std::uint8_t zero_outside = 0;
  std::uint8_t unused = 0;
};

/// Everything of a grouped GEMM that a kernel may go by. Without padding: digested as bytes.
struct Question {
  gemm::WholeQuestion full;  ///< as if all groups were full
  std::int64_t expected_total = 0;
  std::int64_t expected_largest = 0;
  int groups = 0;
  int room = 0;
  GroupForm form = GroupForm::contiguous;
  std::uint8_t sizes_are_ends = 0;
  std::uint8_t zero_outside = 0;
  std::array<std::uint8_t, 5> unused = {};
};

struct Rules {
  using Arguments = GroupedGemmArguments;
  using Problem = GroupedGemmProblem;
  using Profile = GemmProfile;
  using Question = grouped_gemm::Question;
  using TuningQuestion = grouped_gemm::TuningQuestion;

  static void operands(const GroupedGemmArguments& arguments, OperandList& list);
  static Status check(const GroupedGemmArguments& arguments, const OperandList& operands,
                      GroupedGemmProblem& problem);
  static void describe(const GroupedGemmArguments& arguments, GroupedGemmProblem& problem);

  template <class Add>
  static void keys(const GroupedGemmProblem& problem, const Add& add) {
    add_keys(Operation::grouped_gemm, problem.gemm, add);
  }
  static Status no_kernel(const GroupedGemmProblem& problem);
  static Status check_signature(const Row& row, const GroupedGemmProblem& problem);
  static Question question(const GroupedGemmProblem& problem);
  /// Digest of the expression and the types of its outputs; 0 for a problem without an expression.
  static std::uint64_t expression_hash(const GroupedGemmProblem& problem);
  /// Question::expression of the memo.
  static std::uint64_t expression_word(const GroupedGemmProblem& problem);
  static KnownExpression known_expression(const GroupedGemmProblem& problem);
  /// @return 0: the rows of groups are no M of the problem
  static std::int64_t tuning_question(const GroupedGemmProblem& problem, TuningQuestion& question);
  /// With sizes that are even and have the expected total. @pre check(arguments)
  static std::string command_text(const GroupedGemmArguments& arguments);

  static GemmProfile profile(const Row& row, const DeviceModel& device);
  static Status check_constraints(const Row& row, const GemmProfile& profile,
                                  const GroupedGemmProblem& problem, const DeviceModel& device);
  static Estimate estimate(const Row& row, const GemmProfile& profile, const GroupedGemmProblem& problem,
                           const DeviceModel& device, std::size_t max_workspace);
  static Account account(const Row& row, const GemmProfile& profile, const GroupedGemmProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace);
  /// Blocks walk over tiles: as many as the device holds at once.
  static ChosenControls settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                               const DeviceModel& device, GroupedGemmProblem& problem);
  /// The parts of an expression's reductions of rows, columns and all.
  static std::size_t workspace_size(const Row& row, const GroupedGemmProblem& problem,
                                    const ChosenControls& controls);
  static void launch(const Row& row, const GroupedGemmProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
  static Result<std::string> expression_code(const Expression& expression, std::string_view name);
};

}  // namespace quarry::detail::grouped_gemm
