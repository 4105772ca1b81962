/// A part of a box between shared and global memory by the lanes of a warp: for matrices that the bulk copy
/// engine cannot address, and for those that have no tensor map.
#pragma once

#include "arch/sm90.hpp"
#include "common/matrix_params.hpp"
#include "gemm_sm90/output_box.hpp"

namespace quarry::gemm_sm90 {

/// A part of a box: columns [first_column, first_column + columns) of its 16 rows.
struct BoxPart {
  OutputBox box;
  int columns;

  constexpr int lines() const { return box.row_major ? OutputBox::rows : columns; }
  constexpr int line_elements() const { return box.row_major ? columns : OutputBox::rows; }
};

/// A line of a part in global memory.
struct PartLine {
  char* first;
  bool exists;
};

/// Where such a part lies in global memory, line by line as in the box; strides in bytes.
struct PartPlace {
  static constexpr int together = 4;  ///< accesses under way at once
  char* first;
  long long line_stride;
  long long element_stride;
  /// That exist, from the first on; 0 or less: none.
  int lines;
  int elements;

  /// By all lanes.
  QUARRY_DEVICE PartLine line(int line) const { return {first + line * line_stride, line < lines}; }
  /// Of all lines: bits that are set in the address of any.
  QUARRY_DEVICE unsigned long long address_bits() const {
    return reinterpret_cast<unsigned long long>(first) | static_cast<unsigned long long>(line_stride);
  }
};

/// The same where lines are rows that lie apart: each lane knows one, of the 16 and once more of the 16.
struct ScatteredPlace {
  /// nvcc 13.0 does not end with two or four of them in boxes that are unrolled; NVRTC does.
  static constexpr int together = 1;
  char* own_line;  ///< null: it does not exist
  long long element_stride;
  int elements;
  unsigned long long bits;  ///< address_bits()

  QUARRY_DEVICE PartLine line(int line) const {
    const auto own = reinterpret_cast<unsigned long long>(own_line);
    const auto low = static_cast<unsigned>(arch::shuffle(static_cast<int>(own), line));
    const auto high = static_cast<unsigned>(arch::shuffle(static_cast<int>(own >> 32), line));
    const unsigned long long address = static_cast<unsigned long long>(high) << 32 | low;
    return {reinterpret_cast<char*>(address), address != 0};
  }
  QUARRY_DEVICE unsigned long long address_bits() const { return bits; }
};

/// Rows of a work from `row` on in a matrix, `count` of which exist at most, from a column on.
/// @tparam element_bytes of the matrix
template <int element_bytes, class Work>
QUARRY_DEVICE ScatteredPlace scattered_place(const Work& work, const MatrixParams& matrix, int row, int count,
                                             int column, int columns) {
  const int lane_row = arch::lane_index() % OutputBox::rows;
  const long long offset = lane_row < count ? work.row_offset(matrix, row + lane_row) : -1;
  char* const first = static_cast<char*>(const_cast<void*>(matrix.data)) + column * element_bytes;
  const long long strides = matrix.batch_stride | matrix.row_stride | matrix.column_stride;
  return {
      offset < 0 ? nullptr : first + offset * element_bytes, element_bytes, columns,
      reinterpret_cast<unsigned long long>(first) | static_cast<unsigned long long>(strides * element_bytes)};
}

/// Whether rows of a work lie apart in its output: then it says where (row_offset), and lanes store boxes
/// where the engine else does.
template <class Work>
inline constexpr bool has_scattered_rows = requires(const Work& work, const MatrixParams& matrix) {
  work.row_offset(matrix, 0);
};

/// A value of so many bytes.
template <int bytes>
struct AccessOf;
template <>
struct AccessOf<16> {
  using Type = arch::Vector<unsigned, 4>;
};
template <>
struct AccessOf<4> {
  using Type = unsigned;
};
template <>
struct AccessOf<2> {
  using Type = unsigned short;
};
template <>
struct AccessOf<1> {
  using Type = unsigned char;
};

/// Moves a part in accesses of `bytes` bytes, neighbouring lanes taking neighbouring ones. What does not
/// exist becomes 0 in the box.
/// @tparam Place PartPlace or ScatteredPlace
template <BoxPart part, int bytes, bool to_global, class Place>
QUARRY_DEVICE void move_accesses(arch::SharedAddress buffer, int first_column, const Place& place) {
  constexpr OutputBox box = part.box;
  using Access = typename AccessOf<bytes>::Type;
  constexpr int elements = bytes / box.element_bytes;  // of an access
  constexpr int accesses = part.line_elements() / elements;
  constexpr int all = part.lines() * accesses;
  constexpr int turns = (all + 31) / 32;
  constexpr int together = turns % Place::together == 0 ? Place::together : 1;
  const int first_line = box.row_major ? 0 : first_column;
  const int first_element = box.row_major ? first_column : 0;
  const int lane = arch::lane_index();
  QUARRY_ROLLED
  for (int turn = 0; turn < turns; turn += together) {
    Access values[together] = {};
    bool exists[together];
    arch::SharedAddress shared[together];
    char* global[together];
    QUARRY_UNROLL
    for (int i = 0; i < together; ++i) {
      const int index = (turn + i) * 32 + lane;
      const int line = index / accesses;
      const int element = index % accesses * elements;
      const bool is_part = all % 32 == 0 || index < all;
      const PartLine at = place.line(line);
      exists[i] = is_part && at.exists && element < place.elements;
      const int byte = (first_element + element) * box.element_bytes;
      shared[i] = buffer + (box.chunk_offset(first_line + line, byte / 16) + byte % 16);
      global[i] = at.first + element * place.element_stride;
      if (to_global && exists[i]) {
        values[i] = arch::shared_load<Access>(shared[i]);
      } else if (!to_global && exists[i]) {
        values[i] = arch::global_load<Access>(global[i]);
      }
    }
    QUARRY_UNROLL
    for (int i = 0; i < together; ++i) {
      if (to_global && exists[i]) arch::global_store(global[i], values[i]);
      if (!to_global && (all % 32 == 0 || (turn + i) * 32 + lane < all))
        arch::shared_store(shared[i], values[i]);
    }
  }
}

/// Moves a part in the widest accesses that all of its elements allow. The lanes' own accesses to the box
/// must be ordered by warp barriers before and after.
template <BoxPart part, bool to_global, class Place>
QUARRY_OUTLINED void move_part(arch::SharedAddress buffer, int first_column, Place place) {
  constexpr int element_bytes = part.box.element_bytes;
  const unsigned long long all =
      place.address_bits() | static_cast<unsigned long long>(place.elements * element_bytes);
  const bool side_by_side = place.element_stride == element_bytes;
  if (side_by_side && all % 16 == 0) {
    move_accesses<part, 16, to_global>(buffer, first_column, place);
  } else if (element_bytes < 4 && side_by_side && all % 4 == 0) {
    move_accesses<part, 4, to_global>(buffer, first_column, place);
  } else {
    move_accesses<part, element_bytes, to_global>(buffer, first_column, place);
  }
}

}  // namespace quarry::gemm_sm90
