/// Matrices in global memory: where the matrices of a batch lie, and how they are read and written, four
/// neighbours of a row at a time.
#pragma once

#include "arch/arch.hpp"
#include "common/interleaved.hpp"
#include "common/matrix_params.hpp"

namespace quarry {

/// Four neighbours of a row: what one lane of an epilogue handles at once.
template <class T>
using Quad = arch::Vector<T, 4>;

/// How a kernel finds the matrices of a batch.
enum class Batches : unsigned char {
  any,      ///< as the parameters say: by a stride, or through an array of pointers
  strided,  ///< by a stride; no launch has arrays
};

/// Elements, of so many bytes, from m.data to the first one of a batch entry's matrix.
///
/// Of a matrix that is found through an array of pointers, which starts at m.data, too: an address that is
/// the sum of a parameter and a distance is known to be one of global memory, one that was just read is not,
/// and goes by slower loads and stores.
template <Batches batches = Batches::any>
QUARRY_DEVICE long long batch_offset(const MatrixParams& m, int batch, int element_bytes) {
  using Address = unsigned long long;
  if (batches == Batches::any && is_pointer_array(m)) {
    const auto address = arch::global_load<Address>(static_cast<const Address*>(m.data) + batch);
    return static_cast<long long>(address - reinterpret_cast<Address>(m.data)) / element_bytes;
  }
  return batch * m.batch_stride;
}

/// A matrix of one batch entry. Quads of it move in one access where memory allows, which is found out once:
/// columns are next to each other, and every row starts at a multiple of a quad.
///
/// @tparam interleaved its columns are grouped (column_interleaved32), and quads start at multiples of 4
template <class T, bool interleaved = false>
struct MatrixView {
  const T* data;
  long long row_stride;
  long long column_stride;
  bool quads_aligned;

  QUARRY_DEVICE MatrixView(const void* first, long long row, long long column)
      : data(static_cast<const T*>(first)), row_stride(row), column_stride(column) {
    const long long leading = interleaved ? column : row;  // interleaved rows have 32
    const auto bytes =
        reinterpret_cast<unsigned long long>(data) | static_cast<unsigned long long>(leading) * sizeof(T);
    quads_aligned = (interleaved || column == 1) && bytes % sizeof(Quad<T>) == 0;
  }

  QUARRY_DEVICE const T* at(long long row, int column) const {
    return data + (row * row_stride + distance<interleaved>(column, column_stride));
  }

  /// The quad that starts at (row, column), of which only the first `count` exist; the others become
  /// `otherwise`.
  QUARRY_DEVICE Quad<T> load(long long row, int column, int count, T otherwise = {}) const {
    const T* const first = at(row, column);
    if (quads_aligned && count == 4) return arch::global_load<Quad<T>>(first);
    Quad<T> quad;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      quad.v[i] = otherwise;
      if (i < count) quad.v[i] = arch::global_load<T>(first + i * neighbour_stride());
    }
    return quad;
  }

  /// Writes the first `count` of a quad to (row, column) and on.
  QUARRY_DEVICE void store(long long row, int column, int count, const Quad<T>& quad) const {
    T* const first = const_cast<T*>(at(row, column));
    if (quads_aligned && count == 4) {
      arch::global_store(first, quad);
      return;
    }
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < count) arch::global_store(first + i * neighbour_stride(), quad.v[i]);
    }
  }

 private:
  QUARRY_DEVICE long long neighbour_stride() const { return interleaved ? 1 : column_stride; }
};

/// The matrix of a batch entry.
template <class T, bool interleaved = false, Batches batches = Batches::any>
QUARRY_DEVICE MatrixView<T, interleaved> matrix_of(const MatrixParams& m, int batch) {
  return {static_cast<const T*>(m.data) + batch_offset<batches>(m, batch, sizeof(T)), m.row_stride,
          m.column_stride};
}

}  // namespace quarry
