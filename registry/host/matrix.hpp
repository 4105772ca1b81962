/// A tensor view of rank 1 to 3 in host memory, read as a batch of matrices.
#pragma once

#include <cstdint>

#include "common/interleaved.hpp"
#include "quarry/tensor.hpp"

namespace quarry::host {

/// Extents and strides in elements; a vector is a matrix of one row, a rank 2 view is the same for each batch
/// entry. Strides of an interleaved one: common/interleaved.hpp.
struct Matrix {
  const void* data = nullptr;
  DType type = DType::none;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t batch_stride = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  bool rows_grouped = false;
  bool columns_grouped = false;

  explicit Matrix(const TensorView& view)
      : data(view.data),
        type(view.dtype),
        rows_grouped(groups_rows(view.tag)),
        columns_grouped(groups_columns(view.tag)) {
    const std::size_t rank = view.rank;
    if (rank >= 1) columns = view.extents[rank - 1], column_stride = view.strides[rank - 1];
    if (rank >= 2) rows = view.extents[rank - 2], row_stride = view.strides[rank - 2];
    if (rank >= 3) batch = view.extents[rank - 3], batch_stride = view.strides[rank - 3];
  }

  /// Index of an element from `data` on.
  std::int64_t index(std::int64_t entry, std::int64_t row, std::int64_t column) const {
    return entry * batch_stride + distance(rows_grouped, row, row_stride) +
           distance(columns_grouped, column, column_stride);
  }

  /// Elements from `data` to the end of the last one; 0 for an empty matrix.
  std::int64_t span() const {
    if (batch == 0 || rows == 0 || columns == 0) return 0;
    return index(batch - 1, rows - 1, columns - 1) + 1;
  }
};

}  // namespace quarry::host
