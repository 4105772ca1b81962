#include "operations/common/expression/host_operand.hpp"

#include <span>

namespace quarry::host {
namespace {

/// Extents of a shape's own, the last ones of a view, as places in Extents4.
std::span<const std::size_t> places_of(expression::Shape shape) {
  static constexpr std::size_t matrix[] = {2, 3};
  switch (shape) {
    case expression::Shape::scalar: return {};
    case expression::Shape::per_row: return std::span(matrix).first(1);
    case expression::Shape::per_column: return std::span(matrix).last(1);
    default: return matrix;
  }
}

}  // namespace

HostOperand operand_of(const TensorView& view, expression::Shape shape) {
  HostOperand operand = {.data = const_cast<void*>(view.data), .type = view.dtype};
  if (shape == expression::Shape::scalar) return operand;
  const auto places = places_of(shape);
  const std::size_t outer = view.rank < places.size() ? 0 : view.rank - places.size();
  for (std::size_t i = 0; i < view.rank; ++i) {
    const std::size_t place = i < outer ? 2 - outer + i : places[i - outer];
    if (view.extents[i] != 1) operand.strides[place] = view.strides[i];
  }
  if (shape == expression::Shape::gathered) operand.rows = view.extents[view.rank - 2U];
  return operand;
}

}  // namespace quarry::host
