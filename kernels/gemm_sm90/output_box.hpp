/// The part of the output that a warp hands to the bulk copy engine at once. Plain constexpr C++, shared by
/// host and device.
#pragma once

#include "arch/tensor_map.hpp"
#include "layout/matrix_descriptor.hpp"

namespace quarry::gemm_sm90 {

/// 16 rows of the output, a warp's rows, and some columns of a tile, in lines along what is contiguous in
/// memory.
struct OutputBox {
  bool row_major;
  int columns;
  int element_bytes;

  static constexpr int rows = 16;

  constexpr int lines() const { return row_major ? rows : columns; }
  constexpr int line_elements() const { return row_major ? columns : rows; }
  constexpr int line_bytes() const { return line_elements() * element_bytes; }
  constexpr int bytes() const { return lines() * line_bytes(); }

  /// How chunks are permuted, and what the copy engine calls it: in lines of 32, 64 or 128 bytes, the same
  /// chunk of eight neighbours would be in the same banks.
  constexpr layout::Swizzle permutation() const { return layout::chunk_swizzle(line_bytes()); }
  constexpr TensorSwizzle swizzle() const { return static_cast<TensorSwizzle>(permutation().bits); }

  /// The box as a layout, (byte of a line, line) -> byte.
  constexpr layout::SwizzledLayout shared() const {
    return composition(permutation(), layout::compact(line_bytes(), lines()));
  }

  /// Bytes from the start of the box to a chunk of 16 bytes of a line: shared()(16 chunk, line), cheap enough
  /// for device code where it is not constant.
  constexpr int chunk_offset(int line, int chunk) const {
    return permutation()(line * line_bytes() + chunk * 16);
  }

  /// Bytes from the start of the box to an element.
  constexpr int offset(int row, int column) const {
    const int line = row_major ? row : column;
    const int element = row_major ? column : row;
    return permutation()(line * line_bytes() + element * element_bytes);
  }

  /// offset(row + further rows, column + further columns) from offset(row, column), where the rows and
  /// columns are less than the powers of two that the further ones are multiples of: then the bits of both
  /// are apart, and a permutation works on each. In device code the further ones are constant.
  constexpr int moved(int offset, int further_rows, int further_columns) const {
    const int lines = row_major ? further_rows : further_columns;
    const int elements = row_major ? further_columns : further_rows;
    const int further = lines * line_bytes() + elements * element_bytes;
    return permutation().bits == 0 ? offset + further : offset ^ permutation()(further);
  }

  friend constexpr bool operator==(const OutputBox&, const OutputBox&) = default;
};

/// The box for tiles of n columns, 2 KB at most. Row-major lines take 128, 64 or 32 bytes, or else an odd
/// number of chunks, which no two of eight lines share banks in; as wide as divides the tile, up to
/// `most_bytes`.
constexpr OutputBox output_box(bool row_major, int n, int element_bytes, int most_bytes = 128) {
  const int most_columns = most_bytes / element_bytes;
  int best = 8;
  for (int columns = 8; columns <= most_columns; columns += 8) {
    const int chunks = columns * element_bytes / 16;
    const bool is_whole = !row_major || columns * element_bytes % 16 == 0;
    const bool conflict_free = !row_major || chunks % 2 == 1 || chunks == 2 || chunks == 4 || chunks == 8;
    if (n % columns == 0 && is_whole && conflict_free) best = columns;
  }
  return {row_major, best, element_bytes};
}

}  // namespace quarry::gemm_sm90
