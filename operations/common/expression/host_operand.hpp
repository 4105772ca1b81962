/// Tensors of an expression in host memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "quarry/expression.hpp"
#include "quarry/tensor.hpp"

namespace quarry::host {

/// Extents of an expression's elements: two outer ones, rows and columns. Lines and groups are counted in
/// each pair of outer ones apart.
using Extents4 = std::array<std::int64_t, 4>;

/// The place of an element.
using ElementPlace = std::array<std::int64_t, 4>;

/// An input or an output: a tensor in host memory with a stride, in elements, for each of the four extents, 0
/// where all share a value. An input without data has one value.
struct HostOperand {
  void* data = nullptr;
  DType type = DType::none;
  Extents4 strides = {};
  double value = 0;
  /// Of a tensor whose rows are gathered: how many it has, and the extent whose place is the row.
  std::int64_t rows = 0;
  std::size_t rows_along = 2;

  std::int64_t index(const ElementPlace& place) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += place[i] * strides[i];
    return sum;
  }
};

/// An operand from a view: a matrix's last two extents are rows and columns, a vector's last extent is what
/// `shape` says, and extents in front are the outer ones. An extent of 1 is shared by all.
/// @pre the view is strided, and its rank fits the shape
HostOperand operand_of(const TensorView& view, expression::Shape shape);

}  // namespace quarry::host
