/// Types of the hardware seam of compute capability 9.0 that its two implementations share.
#pragma once

#include "arch/types.hpp"

namespace quarry::arch {

/// A thread's part of the 64 x N sums of a warpgroup's matrix instruction. Of each group of eight columns,
/// four values: columns 2t and 2t + 1 (t = lane % 4) of row 16 w + lane / 4 (w = warp of the warpgroup), then
/// of the row eight further down (PTX ISA, wgmma register fragments).
template <int N>
struct WarpgroupSumsF32 {
  static constexpr int registers = N / 2;
  float v[registers];
};

/// The same with s32 sums.
template <int N>
struct WarpgroupSumsS32 {
  static constexpr int registers = N / 2;
  int v[registers];
};

/// The same with f16 sums, a pair of columns in each word.
template <int N>
struct WarpgroupSumsF16 {
  static constexpr int registers = N / 4;
  unsigned v[registers];
};

/// How a warpgroup's matrix instruction finds an operand in shared memory: the bits of the PTX ISA's matrix
/// descriptor.
using MatrixDescriptor = unsigned long long;

/// Which extent of an operand's tile is contiguous in shared memory.
enum class Major : int {
  k = 0,   ///< K
  mn = 1,  ///< M of the left operand, N of the right one
};

/// Where a copy that walks over pixels begins, and the distance from the pixels that it walks over to those
/// that it brings: 0 to 255 columns and rows.
struct PixelPlace {
  int channel;
  int column;
  int row;
  int image;
  int columns_on;
  int rows_on;
};

}  // namespace quarry::arch
