/// The tile of one operand in one stage: its shape in memory and in shared memory.
#pragma once

#include "layout/swizzled_tile.hpp"

namespace quarry {

/// An operand's tile of one stage, and what may be assumed of the memory it is copied
/// from. A line is what is contiguous in memory: the K extent of one row or column of the problem, or the M
/// or N extent at one k.
struct OperandTile {
  bool k_contiguous;
  int extent;     ///< elements along M or N
  int k;          ///< elements along K
  int alignment;  ///< of pointer and line stride, in elements: a power of two, 16 bytes at most
  int element_bytes = 2;
  /// K is grouped (common/interleaved.hpp): what is contiguous is 32 elements of a line, then the elements of
  /// the next line follow. @pre k_contiguous, and k is a multiple of 32
  bool interleaved = false;

  /// Whether warps read it by matrix loads, which move pairs of bytes: of other elements, not across lines;
  /// and of f64 each lane needs one, not two halves.
  constexpr bool has_matrix_loads() const {
    return element_bytes == 2 || (element_bytes <= 4 && k_contiguous);
  }
  constexpr int chunk_bytes() const { return has_matrix_loads() ? 16 : 32; }
  constexpr int chunk_elements() const { return chunk_bytes() / element_bytes; }

  constexpr int lines() const { return k_contiguous ? extent : k; }
  constexpr int line_elements() const { return k_contiguous ? k : extent; }
  constexpr SwizzledTile shared() const { return {line_elements() / chunk_elements(), chunk_bytes()}; }
  constexpr int bytes() const { return extent * k * element_bytes; }

  friend constexpr bool operator==(const OperandTile&, const OperandTile&) = default;
};

}  // namespace quarry
