/// The matrices of a reorder as the device code sees them: their lines, and tiles of both.
#pragma once

#include "arch/arch.hpp"
#include "common/interleaved.hpp"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/params.hpp"

namespace quarry::reorder_matrix {

/// What moves an element of so many bytes.
template <int bytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using Type = unsigned char;
};
template <>
struct ElementOf<2> {
  using Type = unsigned short;
};
template <>
struct ElementOf<4> {
  using Type = unsigned;
};
template <>
struct ElementOf<8> {
  using Type = unsigned long long;
};

/// A tile of one of the matrices.
struct Tile {
  int batch;
  int first_row;
  int first_column;
};

/// @param extent of a tile
QUARRY_DEVICE Tile tile_at(const ReorderParams& params, int extent, long long index) {
  const long long across = tiles_along(params.columns, extent);
  const long long down = tiles_along(params.rows, extent);
  const long long row = index / across;
  return {static_cast<int>(row / down), static_cast<int>(row % down) * extent,
          static_cast<int>(index % across) * extent};
}

/// What is moved at once where both matrices have the same lines.
using Piece = arch::Vector<unsigned, 4>;
static_assert(sizeof(Piece) == piece_bytes);

/// The elements of one side's lines.
template <class T>
class Lines {
 public:
  QUARRY_DEVICE explicit Lines(const ReorderSide& side) : side_(side) {}

  QUARRY_DEVICE T* at(int batch, int line, int element) const {
    return const_cast<T*>(static_cast<const T*>(side_.data)) +
           (batch * side_.batch_stride + line * side_.line_stride +
            distance(side_.interleaved, element, side_.element_stride));
  }

  /// Whether so many bytes of neighbouring elements, from a multiple of them on, can be moved at once.
  QUARRY_DEVICE bool moves(int bytes) const {
    const long long strides =
        side_.line_stride | side_.batch_stride | (side_.interleaved ? side_.element_stride : 0);
    const auto places = reinterpret_cast<unsigned long long>(side_.data) |
                        static_cast<unsigned long long>(strides) * sizeof(T);
    return (side_.interleaved || side_.element_stride == 1) && places % static_cast<unsigned>(bytes) == 0;
  }

 private:
  const ReorderSide& side_;
};

}  // namespace quarry::reorder_matrix
