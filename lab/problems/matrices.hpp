/// A tensor of rank 1 to 4 in host memory, read as so many matrices: what values, guards and comparisons go
/// through, whatever the tensor means.
#pragma once

#include <cstdint>

#include "operations/common/host/matrix.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

/// Matrices of `rows` x `columns` elements, `count` of them: the entries of a batch, of a fourth extent in
/// front of it, or of an array of pointers. A vector is a matrix of one row.
class Matrices {
 public:
  explicit Matrices(const TensorView& view) : inner_(view) {
    if (view.rank < TensorView::max_rank) return;
    outer_ = view.extents[0];
    outer_stride_ = view.strides[0];
  }

  DType type() const { return inner_.type; }
  bool is_array() const { return inner_.is_array; }
  std::int64_t count() const { return outer_ * inner_.batch; }
  std::int64_t rows() const { return inner_.rows; }
  std::int64_t columns() const { return inner_.columns; }
  bool is_empty() const { return count() == 0 || rows() == 0 || columns() == 0; }

  /// Index of an element from the first one of its matrix on.
  std::int64_t index(std::int64_t row, std::int64_t column) const { return inner_.index(row, column); }

  /// Index of a matrix's first element from the tensor's on. @pre it is no array
  std::int64_t start(std::int64_t matrix) const {
    return inner_.batch == 0
               ? 0
               : matrix / inner_.batch * outer_stride_ + matrix % inner_.batch * inner_.batch_stride;
  }

  /// The first element of a matrix.
  const void* first(std::int64_t matrix) const {
    if (inner_.is_array) return inner_.first(matrix);
    return static_cast<const char*>(inner_.data) + start(matrix) * bits_of(inner_.type) / 8;
  }

  /// Elements from the first to the end of the last one, 0 for an empty tensor. Of an array: in one of
  /// its matrices.
  std::int64_t span() const {
    if (is_empty()) return 0;
    return (is_array() ? 0 : start(count() - 1)) + index(rows() - 1, columns() - 1) + 1;
  }

 private:
  host::Matrix inner_;
  std::int64_t outer_ = 1;
  std::int64_t outer_stride_ = 0;
};

/// Bytes of `span()` elements, of all matrices where there is an array, in floating point, where nothing
/// wraps: what memory the tensor needs, whatever its extents.
double memory_bytes(const TensorView& view);

/// Bytes of the tensor's elements, each counted once.
double element_bytes(const TensorView& view);

}  // namespace quarry::lab
