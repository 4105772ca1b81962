/// What a list of GEMMs is: the rules by which the registry treats it. See registry/operation.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gemm_list/family.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "operations/gemm/many_gemms.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/gemm/whole_question.hpp"
#include "quarry/device_model.hpp"
#include "quarry/expression.hpp"
#include "quarry/gemm_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::gemm_list {

/// The family of a row that computes lists of GEMMs. @pre its operation is gemm_list
inline const GemmListFamily& family_of(const Row& row) {
  return static_cast<const GemmListFamily&>(row.family.get());
}

/// A list as tuning tables know it. Without padding: digested as bytes.
struct TuningQuestion {
  /// As if all problems were as large as the bounds.
  gemm::Question bounds;
  /// The two halves of a hash of the sizes that the host knows; 0 where it knows none, or all are the bounds.
  std::uint32_t sizes_high = 0;
  std::uint32_t sizes_low = 0;
  std::uint32_t by_columns = 0;
  std::uint8_t has_leading = 0;
  std::uint8_t host_schedule = 0;
  std::uint8_t leading_alignment = 0;
  std::uint8_t unused = 0;
};

/// Everything of a list that a kernel may go by. Without padding: digested as bytes.
struct Question {
  gemm::WholeQuestion bounds;  ///< as if all problems were as large as these
  std::uint64_t sizes = 0;     ///< as in TuningQuestion
  std::uint32_t by_columns = 0;
  std::uint8_t has_leading = 0;
  std::uint8_t knows_sizes = 0;
  std::uint8_t host_schedule = 0;
  std::uint8_t leading_alignment = 0;
};

struct Rules {
  using Arguments = GemmListArguments;
  using Problem = GemmListProblem;
  using Profile = GemmProfile;
  using Question = gemm_list::Question;
  using TuningQuestion = gemm_list::TuningQuestion;

  static void operands(const GemmListArguments& arguments, OperandList& list);
  static Status check(const GemmListArguments& arguments, const OperandList& operands,
                      GemmListProblem& problem);
  static void describe(const GemmListArguments& arguments, GemmListProblem& problem);

  template <class Add>
  static void keys(const GemmListProblem& problem, const Add& add) {
    add_keys(Operation::gemm_list, problem.gemm, add);
  }
  static Status no_kernel(const GemmListProblem& problem);
  static Status check_signature(const Row& row, const GemmListProblem& problem);
  static Question question(const GemmListProblem& problem);
  /// Digest of the expression and the types of its outputs; 0 for a problem without an expression.
  static std::uint64_t expression_hash(const GemmListProblem& problem);
  /// Question::expression of the memo.
  static std::uint64_t expression_word(const GemmListProblem& problem);
  static KnownExpression known_expression(const GemmListProblem& problem);
  /// @return 0: each problem of the list has an M of its own
  static std::int64_t tuning_question(const GemmListProblem& problem, TuningQuestion& question);
  /// With the bounds as sizes where the host knows none, and where there are leading dimensions, with lines
  /// that are packed as far as their promised alignment allows.
  /// Empty for a list that is longer than a line of a log. @pre check(arguments)
  static std::string command_text(const GemmListArguments& arguments);

  static GemmProfile profile(const Row& row, const DeviceModel& device);
  static Status check_constraints(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                                  const DeviceModel& device);
  static Estimate estimate(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                           const DeviceModel& device, std::size_t max_workspace);
  static Account account(const Row& row, const GemmProfile& profile, const GemmListProblem& problem,
                         const DeviceModel& device, std::size_t max_workspace);
  /// Blocks walk over tiles: as many as the device holds at once.
  static ChosenControls settle(const Row& row, const GemmProfile& profile, const Controls& of_kernel,
                               const DeviceModel& device, GemmListProblem& problem);
  static std::size_t workspace_size(const Row& row, const GemmListProblem& problem,
                                    const ChosenControls& controls);
  static void launch(const Row& row, const GemmListProblem& problem, const ChosenControls& controls,
                     Launch& launch);
  static Status run_on_host(const Row& row, const Launch& launch, const std::byte* image);
  static Result<std::string> expression_code(const Expression& expression, std::string_view name);
};

}  // namespace quarry::detail::gemm_list
