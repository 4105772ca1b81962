/// A tile of a warpgroup's matrix instruction as it lies in shared memory, where the PTX ISA's pictures show
/// each element (wgmma: canonical layouts, swizzling modes).
#pragma once

#include "arch/types_sm90.hpp"

namespace quarry::test {

/// K of the tiles, four instructions.
inline constexpr int tile_k = 64;

/// Panels of lines that are 128, 64, 32 or 16 bytes wide; the chunks of every panel except the last are
/// permuted.
struct OperandTile {
  arch::Major major;
  int extent;  ///< rows of A, columns of B
  int line_bytes;

  constexpr int line_elements() const { return line_bytes / 2; }
  constexpr int lines() const { return major == arch::Major::k ? extent : tile_k; }
  constexpr int panel_bytes() const { return lines() * line_bytes; }
  constexpr int bytes() const { return extent * tile_k * 2; }

  /// Where row or column i has its element k, in bytes.
  constexpr int offset(int i, int k) const {
    const int line = major == arch::Major::k ? i : k;
    const int along = major == arch::Major::k ? k : i;
    int chunk = along % line_elements() / 8;
    if (line_bytes == 128) chunk ^= line % 8;
    if (line_bytes == 64) chunk ^= line / 2 % 4;
    if (line_bytes == 32) chunk ^= line / 4 % 2;
    return along / line_elements() * panel_bytes() + line * line_bytes + chunk * 16 + along % 8 * 2;
  }

  /// The descriptor of the instruction's operand from k = 16 `step` on, of a tile at `address`.
  constexpr arch::MatrixDescriptor descriptor(unsigned address, int step) const {
    int start = 0;
    if (major == arch::Major::mn) {
      start = step * 16 * line_bytes;
    } else if (line_bytes == 16) {
      start = step * 2 * panel_bytes();
    } else {
      start = step * 32 / line_bytes * panel_bytes() + step * 32 % line_bytes;
    }
    const int eight_lines = 8 * line_bytes;
    const bool exchanged = major == arch::Major::mn && line_bytes == 16;
    const auto leading = static_cast<arch::MatrixDescriptor>(exchanged ? eight_lines : panel_bytes()) / 16;
    const auto stride = static_cast<arch::MatrixDescriptor>(exchanged ? panel_bytes() : eight_lines) / 16;
    const arch::MatrixDescriptor mode = line_bytes == 128  ? 1
                                        : line_bytes == 64 ? 2
                                        : line_bytes == 32 ? 3
                                                           : 0;
    return (address + static_cast<unsigned>(start)) / 16 | (leading & 0x3fff) << 16 |
           (stride & 0x3fff) << 32 | mode << 62;
  }
};

}  // namespace quarry::test
