/// Values of the inputs that choose rows of others.
#pragma once

#include <span>

#include "lab/problems/fill.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

/// Fills an operand that chooses rows of another tensor of the expression: mostly with rows that it has;
/// about one in ten lies outside. @return false for operands that choose none: nothing was done
bool fill_indices(const Expression& expression, std::span<const ExpressionTensor> tensors, Operand operand,
                  const TensorView& view, const FillOptions& options);

}  // namespace quarry::lab
