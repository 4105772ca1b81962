/// Batches whose matrices lie anywhere: an array of pointers, in the memory where the problem runs.
#pragma once

#include <array>
#include <cstdint>

#include "quarry/tensor.hpp"

namespace quarry {

/// A batch of matrices of one shape, each at an address of its own. Goes wherever a batch does as a
/// TensorView, for a, b, c, out, residual and aux, beside batches with strides and matrices that are the same
/// for the whole batch: `args.a = PointerArrayView::row_major(pointers, DType::f16, batch, {m, k})`.
///
/// What cannot be seen from the host is the caller's to keep: no pointer is null, each keeps to `alignment`,
/// matrices of an output overlap neither one another nor an input (but for C and the residual, which may be
/// the output entry by entry). On plain host memory all of that is checked.
struct PointerArrayView {
  /// `count` addresses, in device memory for problems that run on a device (managed and pinned memory will
  /// do). They are read when the kernel runs. Matrices of an output are written through them. Null: a fake
  /// array, good for discovery but not for running.
  const void* const* pointers = nullptr;
  DType dtype = DType::none;
  /// Bytes that every pointer is promised to be a multiple of: a power of two. 0: those of an element, which
  /// is always right; many kernels need more, mostly 16.
  std::uint16_t alignment = 0;
  /// Where the array itself lies; the matrices lie in memory of the same kind.
  Memory memory = {};
  /// Entries of the batch.
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Elements from one row to the next, from one column to the next, in each of the matrices.
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;

  /// Matrices (rows, columns) whose rows are contiguous. `ld` is the elements from one row to the next, 0 for
  /// packed matrices.
  static PointerArrayView row_major(const void* const* pointers, DType dtype, std::int64_t count,
                                    std::array<std::int64_t, 2> extents, std::int64_t ld = 0);

  /// Matrices whose columns are contiguous. `ld` is the elements from one column to the next.
  static PointerArrayView column_major(const void* const* pointers, DType dtype, std::int64_t count,
                                       std::array<std::int64_t, 2> extents, std::int64_t ld = 0);

  /// The same matrices with a promise about their pointers.
  PointerArrayView aligned(std::uint16_t bytes) const {
    PointerArrayView view = *this;
    view.alignment = bytes;
    return view;
  }

  /// The same view of an array in memory of a known kind, which saves asking the driver.
  PointerArrayView on(Memory where) const {
    PointerArrayView view = *this;
    view.memory = where;
    return view;
  }

  /// The view of rank 3 that arguments hold (TensorView::is_pointer_array).
  operator TensorView() const;
};

}  // namespace quarry
