#include "quarry/tensor.hpp"

#include <algorithm>
#include <limits>

#include "quarry/pointer_array.hpp"

namespace quarry {
namespace {

/// A rank that every call refuses, of a view that cannot hold the extents it was given.
constexpr std::uint8_t refused_rank = TensorView::max_rank + 1;

/// A view with these extents, strides left 0.
TensorView view_of(const void* data, DType dtype, std::span<const std::int64_t> extents) {
  TensorView view;
  view.data = data;
  view.dtype = dtype;
  view.rank =
      extents.size() <= TensorView::max_rank ? static_cast<std::uint8_t>(extents.size()) : refused_rank;
  if (view.rank != refused_rank) std::copy(extents.begin(), extents.end(), view.extents.begin());
  return view;
}

/// Packs the extents in front of the matrix, where the elements of one matrix span `matrix` of them.
void pack_batch(TensorView& view, std::int64_t matrix) {
  std::int64_t stride = matrix;
  for (int i = view.rank - 3; i >= 0; --i) {
    const auto extent = static_cast<std::size_t>(i);
    view.strides[extent] = stride;
    stride = detail::product_of_extents(stride, std::max<std::int64_t>(view.extents[extent], 1));
  }
}

/// A matrix, with a batch or without, in groups of 32 rows or columns.
TensorView groups(const void* data, DType dtype, std::span<const std::int64_t> extents, std::int64_t ld,
                  LayoutTag tag) {
  TensorView view = view_of(data, dtype, extents);
  view.tag = tag;
  if (view.rank == refused_rank || view.rank < 2) return view;
  const std::size_t row = view.rank - 2U;
  const std::size_t column = view.rank - 1U;
  const std::size_t across = tag == LayoutTag::row_interleaved32 ? row : column;
  const std::size_t along = tag == LayoutTag::row_interleaved32 ? column : row;
  const auto at_least_1 = [](std::int64_t extent) { return std::max<std::int64_t>(extent, 1); };
  view.strides[across] =
      ld != 0 ? ld : detail::product_of_extents(at_least_1(view.extents[along]), interleave);
  view.strides[along] = interleave;
  pack_batch(view,
             detail::product_of_extents(view.strides[across], at_least_1(view.extents[across] / interleave)));
  return view;
}

/// A matrix, with a batch or without, whose lines (rows or columns) are contiguous.
TensorView lines(const void* data, DType dtype, std::span<const std::int64_t> extents, std::int64_t ld,
                 Layout layout) {
  TensorView view = view_of(data, dtype, extents);
  if (view.rank == refused_rank || view.rank == 0) return view;
  if (view.rank == 1) {
    view.strides[0] = 1;
    return view;
  }
  const std::size_t row = view.rank - 2U;
  const std::size_t column = view.rank - 1U;
  const std::size_t across = layout == Layout::row ? row : column;
  const std::size_t along = layout == Layout::row ? column : row;
  // An empty line still has a stride of one element, so that a packed view never seems to overlap itself.
  view.strides[across] = ld != 0 ? ld : std::max<std::int64_t>(view.extents[along], 1);
  view.strides[along] = 1;
  pack_batch(view, detail::product_of_extents(view.strides[across],
                                              std::max<std::int64_t>(view.extents[across], 1)));
  return view;
}

/// An array of matrices whose lines are contiguous.
PointerArrayView array_of_lines(const void* const* pointers, DType dtype, std::int64_t count,
                                std::span<const std::int64_t> extents, std::int64_t ld, Layout layout) {
  const TensorView matrix = lines(nullptr, dtype, extents, ld, layout);
  PointerArrayView view;
  view.pointers = pointers;
  view.dtype = dtype;
  view.count = count;
  view.rows = matrix.extents[0];
  view.columns = matrix.extents[1];
  view.row_stride = matrix.strides[0];
  view.column_stride = matrix.strides[1];
  return view;
}

}  // namespace

TensorView TensorView::row_major(const void* data, DType dtype, std::initializer_list<std::int64_t> extents,
                                 std::int64_t ld) {
  return lines(data, dtype, {extents.begin(), extents.size()}, ld, Layout::row);
}

TensorView TensorView::column_major(const void* data, DType dtype,
                                    std::initializer_list<std::int64_t> extents, std::int64_t ld) {
  return lines(data, dtype, {extents.begin(), extents.size()}, ld, Layout::column);
}

TensorView TensorView::row_interleaved32(const void* data, DType dtype,
                                         std::initializer_list<std::int64_t> extents, std::int64_t ld) {
  return groups(data, dtype, {extents.begin(), extents.size()}, ld, LayoutTag::row_interleaved32);
}

TensorView TensorView::column_interleaved32(const void* data, DType dtype,
                                            std::initializer_list<std::int64_t> extents, std::int64_t ld) {
  return groups(data, dtype, {extents.begin(), extents.size()}, ld, LayoutTag::column_interleaved32);
}

TensorView TensorView::strided(const void* data, DType dtype, std::span<const std::int64_t> extents,
                               std::span<const std::int64_t> strides) {
  TensorView view = view_of(data, dtype, extents);
  if (extents.size() != strides.size()) view.rank = refused_rank;
  if (view.rank != refused_rank) std::copy(strides.begin(), strides.end(), view.strides.begin());
  return view;
}

TensorView TensorView::vector(const void* data, DType dtype, std::int64_t extent) {
  return row_major(data, dtype, {extent});
}

PointerArrayView PointerArrayView::row_major(const void* const* pointers, DType dtype, std::int64_t count,
                                             std::array<std::int64_t, 2> extents, std::int64_t ld) {
  return array_of_lines(pointers, dtype, count, extents, ld, Layout::row);
}

PointerArrayView PointerArrayView::column_major(const void* const* pointers, DType dtype, std::int64_t count,
                                                std::array<std::int64_t, 2> extents, std::int64_t ld) {
  return array_of_lines(pointers, dtype, count, extents, ld, Layout::column);
}

PointerArrayView::operator TensorView() const {
  const std::array<std::int64_t, 3> all_extents = {count, rows, columns};
  const std::array<std::int64_t, 3> all_strides = {0, row_stride, column_stride};
  TensorView view = TensorView::strided(pointers, dtype, all_extents, all_strides);
  view.assumed_alignment = alignment != 0 ? alignment : static_cast<std::uint16_t>(unit_bytes(dtype));
  view.memory = memory;
  view.is_pointer_array = true;
  view.overlapping = overlapping;
  return view;
}

}  // namespace quarry
