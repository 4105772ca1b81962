/// A tensor view of rank 1 to 3 in host memory, read as a batch of matrices, by a stride or through an array
/// of pointers.
#pragma once

#include <cstdint>

#include "common/interleaved.hpp"
#include "common/matrix_params.hpp"
#include "quarry/tensor.hpp"

namespace quarry::host {

/// The first element of a batch entry's matrix. @param element_bits bits of an element
inline const void* first_of(const MatrixParams& m, int batch, int element_bits) {
  if (is_pointer_array(m)) return static_cast<const void* const*>(m.data)[batch];
  return static_cast<const char*>(m.data) + batch * m.batch_stride * element_bits / 8;
}

/// Extents and strides in elements; a vector is a matrix of one row, a rank 2 view is the same for each batch
/// entry. Strides of an interleaved one: common/interleaved.hpp.
struct Matrix {
  const void* data = nullptr;
  /// Whether `data` is an array of pointers to the matrices.
  bool is_array = false;
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
        is_array(view.is_pointer_array),
        type(view.dtype),
        rows_grouped(groups_rows(view.tag)),
        columns_grouped(groups_columns(view.tag)) {
    const std::size_t rank = view.rank;
    if (rank >= 1) columns = view.extents[rank - 1], column_stride = view.strides[rank - 1];
    if (rank >= 2) rows = view.extents[rank - 2], row_stride = view.strides[rank - 2];
    if (rank >= 3) batch = view.extents[rank - 3], batch_stride = view.strides[rank - 3];
  }

  /// The first element of a batch entry's matrix.
  const void* first(std::int64_t entry) const {
    if (is_array) return static_cast<const void* const*>(data)[entry];
    return static_cast<const char*>(data) + entry * batch_stride * bits_of(type) / 8;
  }

  /// Index of an element from the first one of its matrix on.
  std::int64_t index(std::int64_t row, std::int64_t column) const {
    return distance(rows_grouped, row, row_stride) + distance(columns_grouped, column, column_stride);
  }

  /// Index of an element from `data` on. @pre it is no array
  std::int64_t index(std::int64_t entry, std::int64_t row, std::int64_t column) const {
    return entry * batch_stride + index(row, column);
  }

  /// Elements from `data` to the end of the last one; 0 for an empty matrix. Of an array: in one of its
  /// matrices.
  std::int64_t span() const {
    if (batch == 0 || rows == 0 || columns == 0) return 0;
    return is_array ? index(rows - 1, columns - 1) + 1 : index(batch - 1, rows - 1, columns - 1) + 1;
  }
};

}  // namespace quarry::host
