/// The operation `elementwise`: an expression of tensors alone.
#pragma once

#include <vector>

#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/operation.hpp"

namespace quarry {

/// Every element of the outputs, computed from the inputs' elements of the same place.
///
///     const auto sum = Expression::parse("out = x + y", {.tensors = {{"x", DType::bf16, Shape::row},
///                                                                    {"y", DType::bf16, Shape::row}},
///                                                        .sum = DType::none});
///     ElementwiseArguments args{.expression = *sum, .tensors = {{"x", x}, {"y", y}, {"out", out}}};
struct ElementwiseArguments {
  static constexpr Operation operation = Operation::elementwise;

  /// Without sums.
  Expression expression;
  /// The expression's inputs and outputs in any order, each once, at most eight with views, of the declared
  /// types. `out` decides the extents; if it is what a reduction leaves, another output of elements does, or
  /// else the inputs.
  ///
  /// A matrix (row or col) has the extents of `out`, or 1 along those that it is broadcast along; extents in
  /// front may be missing. The last extent of a vector is the number of out's rows or columns. Strides are
  /// any; 0 broadcasts. Other outputs have all extents of `out`, or fewer
  /// after a reduction: of rows {..., rows}, of columns {..., columns}, of groups the last extent / 128
  /// rounded up. Elements of outputs may not share memory with each other or with an input, but that an input
  /// whose elements have as many bytes may be `out` itself, with the same strides.
  std::vector<ExpressionTensor> tensors = {};
};

}  // namespace quarry
