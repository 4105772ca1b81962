/// The tile of one operand in one stage: its shape in memory and in shared memory.
#pragma once

#include "layout/swizzled_tile.hpp"

namespace quarry {

/// An operand's tile of one stage, of 16-bit elements, and what may be assumed of the memory it is copied
/// from. A line is what is contiguous in memory: the K extent of one row or column of the problem, or the M
/// or N extent at one k.
struct OperandTile {
  bool k_contiguous;
  int extent;     ///< elements along M or N
  int k;          ///< elements along K
  int alignment;  ///< of pointer and line stride, in elements: 1, 2, 4 or 8

  static constexpr int element_bytes = 2;
  static constexpr int chunk_elements = 16 / element_bytes;

  constexpr int lines() const { return k_contiguous ? extent : k; }
  constexpr int line_elements() const { return k_contiguous ? k : extent; }
  constexpr SwizzledTile shared() const { return {line_elements() / chunk_elements}; }
  constexpr int bytes() const { return extent * k * element_bytes; }

  friend constexpr bool operator==(const OperandTile&, const OperandTile&) = default;
};

}  // namespace quarry
