/// A part of a box between shared and global memory by the lanes of a warp: for matrices that the bulk copy
/// engine cannot address, and for those that have no tensor map.
#pragma once

#include "arch/sm90.hpp"
#include "gemm_sm90/output_box.hpp"

namespace quarry::gemm_sm90 {

/// A part of a box: columns [first_column, first_column + columns) of its 16 rows.
struct BoxPart {
  OutputBox box;
  int columns;

  constexpr int lines() const { return box.row_major ? OutputBox::rows : columns; }
  constexpr int line_elements() const { return box.row_major ? columns : OutputBox::rows; }
};

/// Where such a part lies in global memory, line by line as in the box; strides in bytes.
struct PartPlace {
  char* first;
  long long line_stride;
  long long element_stride;
  /// That exist, from the first on; 0 or less: none.
  int lines;
  int elements;
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
template <BoxPart part, int bytes, bool to_global>
QUARRY_DEVICE void move_accesses(arch::SharedAddress buffer, int first_column, const PartPlace& place) {
  constexpr OutputBox box = part.box;
  using Access = typename AccessOf<bytes>::Type;
  constexpr int elements = bytes / box.element_bytes;  // of an access
  constexpr int accesses = part.line_elements() / elements;
  constexpr int all = part.lines() * accesses;
  constexpr int turns = (all + 31) / 32;
  constexpr int together = turns % 4 == 0 ? 4 : 1;  // under way at once
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
      exists[i] = is_part && line < place.lines && element < place.elements;
      const int byte = (first_element + element) * box.element_bytes;
      shared[i] = buffer + (box.chunk_offset(first_line + line, byte / 16) + byte % 16);
      global[i] = place.first + (line * place.line_stride + element * place.element_stride);
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
template <BoxPart part, bool to_global>
QUARRY_OUTLINED void move_part(arch::SharedAddress buffer, int first_column, PartPlace place) {
  constexpr int element_bytes = part.box.element_bytes;
  const unsigned long long all = reinterpret_cast<unsigned long long>(place.first) |
                                 static_cast<unsigned long long>(place.line_stride) |
                                 static_cast<unsigned long long>(place.elements * element_bytes);
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
