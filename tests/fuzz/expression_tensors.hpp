/// Expressions of fuzzed arguments, and their tensors.
#pragma once

#include <vector>

#include "fuzz/input.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"

namespace quarry::fuzz {

/// An expression that kernels take, the same for the same seed.
/// @param sum of a product; none: of tensors alone. @param out type of `out`; none: any
Expression some_expression(std::uint64_t seed, DType sum, DType out);

/// Fake tensors for all that an expression names.
/// @param extents of `out`, two or three of moderate size. @param has_out whether `out` is among them
std::vector<ExpressionTensor> tensors_for(const Expression& expression, std::span<const std::int64_t> extents,
                                          bool has_out);

/// An expression of sums of some type, for the output of a product as it is now, if that is like a matrix,
/// and its tensors.
Expression draw_expression(const TensorView& out, std::vector<ExpressionTensor>& tensors, Input& input);

/// Takes one of the tensors away, renames or repeats it, makes it a value, or changes its view.
void change(std::vector<ExpressionTensor>& tensors, Input& input);

}  // namespace quarry::fuzz
