/// Expressions in the words of the command line.
#pragma once

#include <span>

#include "operations/common/problem_words.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"

namespace quarry::detail {

/// Writes `--epilogue`, `--with` and `--in-place`, such that parsing them gives the same expression.
/// @param out the view of `out`: the first input that is its memory is said to be in place
/// @param says_out whether the type of `out` is to be among the declarations, as nothing else says it
void write_expression(const Expression& expression, std::span<const ExpressionTensor> tensors,
                      const TensorView& out, bool says_out, ProblemWords& words);

/// Writes `--of-each`: the vectors and tables that have values of their own for each problem.
/// @param has_row_parts vectors of rows may have such, too
void write_parts(const Expression& expression, std::span<const ExpressionTensor> tensors, bool has_row_parts,
                 ProblemWords& words);

}  // namespace quarry::detail
