/// Batches with matrices anywhere in memory: an array of pointers.
#pragma once

#include <array>
#include <cstdint>

#include "quarry/tensor.hpp"

namespace quarry {

/// A batch of matrices of one shape, each at its own address. It can stand for a, b, c, out, residual and
/// aux, together with strided batches and with matrices that all entries share: `args.a =
/// PointerArrayView::row_major(pointers, DType::f16, batch, {m, k})`.
///
/// The library cannot check pointers in device memory. The caller must ensure that no pointer is null, that
/// each has the promised `alignment`, and that matrices of an output overlap neither one another nor an input
/// (C and the residual may equal the output entry by entry). In plain host memory all of this is checked.
struct PointerArrayView {
  /// `count` addresses, in device memory for problems that run on a device (managed and pinned memory also
  /// work). They are read when the kernel runs. Matrices of an output are written through them. Null: a fake
  /// array, which works for queries but not for runs.
  const void* const* pointers = nullptr;
  DType dtype = DType::none;
  /// Promise that every pointer is a multiple of this many bytes, a power of two. 0: multiples of one
  /// element, which is always true. Many kernels need more, mostly 16.
  std::uint16_t alignment = 0;
  /// Where the array itself lies. The matrices lie in memory of the same kind.
  Memory memory = {};
  /// Entries of the batch.
  std::int64_t count = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  /// Elements from one row to the next, from one column to the next, in each of the matrices.
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 0;
  /// As TensorView::overlapping.
  bool overlapping = false;

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

  /// The same view of an array in memory of a known kind. The library then does not ask the driver.
  PointerArrayView on(Memory where) const {
    PointerArrayView view = *this;
    view.memory = where;
    return view;
  }

  /// The view of rank 3 that arguments hold (TensorView::is_pointer_array).
  operator TensorView() const;
};

}  // namespace quarry
