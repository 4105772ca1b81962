/// Elementwise problems as arguments: from what a caller wrote to what families decide by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "elementwise/family.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/elementwise.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::elementwise {

/// What messages and plans call a tensor of the list. @pre place < 8
Operand operand_name(const ElementwiseArguments& arguments, std::size_t place);

/// Checks the arguments and fills `problem`, which refers to their expression: extents as `out` has them,
/// behind extents of 1.
/// @param operands the list of these arguments
Status normalise(const ElementwiseArguments& arguments, const OperandList& operands,
                 ElementwiseProblem& problem);

/// Elements from one line of a matrix to the next, as the command line describes it: the line's, or, where
/// `lines` is not 0, the next multiple of it and as many more. A line that no tensor has stays as it is.
constexpr std::int64_t line_distance(std::int64_t line, std::int64_t lines) {
  const bool fits = line <= std::numeric_limits<std::int64_t>::max() - 2 * lines;
  return lines > 0 && fits ? (line + lines - 1) / lines * lines + lines : line;
}

/// Makes extents as few as can be: extents of 1 go, the others are put in the order of the first output's
/// strides, and neighbours that are one in all tensors become one. The copy of an input to an output of its
/// type becomes one of bytes. A problem with reductions or gathered rows stays as it is: its rows and columns
/// count.
void simplify(ElementwiseProblem& problem);

}  // namespace quarry::detail::elementwise
