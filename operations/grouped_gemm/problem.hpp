/// Grouped GEMMs as arguments: from what a caller wrote to what families decide by.
#pragma once

#include <cstdint>
#include <string_view>

#include "grouped_gemm/problem.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/grouped_gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::grouped_gemm {

/// Forms of groups by their words on the command line.
inline constexpr std::string_view form_words[] = {"contiguous", "masked", "ragged_k"};

/// How the groups lie, by the ranks of the operands. @pre the ranks go together (normalise)
constexpr GroupForm form_of(const GroupedGemmArguments& arguments) {
  if (arguments.out.rank == 2) return GroupForm::contiguous;
  return arguments.a.rank == 3 ? GroupForm::masked : GroupForm::ragged_k;
}

/// What the groups share: rows in all (contiguous), rows of each (masked), positions of K (ragged K).
/// @pre as for form_of
std::int64_t room_of(const GroupedGemmArguments& arguments);

/// What the hints of the arguments come to, within the room that there is: rows, with ragged K positions of
/// K.
struct ExpectedSizes {
  std::int64_t total = 0;    ///< of all groups together
  std::int64_t largest = 0;  ///< of the largest group; 0: all groups are alike
};

/// @pre normalise accepts the arguments
ExpectedSizes expected_sizes(const GroupedGemmArguments& arguments);

/// Checks the arguments and fills `problem`, as the normalise of a GEMM does. What the sizes are is not
/// looked at: they may be in device memory, and change from run to run.
/// @param operands the list of these arguments
Status normalise(const GroupedGemmArguments& arguments, const OperandList& operands,
                 GroupedGemmProblem& problem);

/// Fills `problem` without a check. @pre normalise accepts the arguments
void describe(const GroupedGemmArguments& arguments, GroupedGemmProblem& problem);

}  // namespace quarry::detail::grouped_gemm
