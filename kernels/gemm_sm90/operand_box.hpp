/// An operand's tile of one stage as the bulk copy engine writes it and the warpgroup's matrix instruction
/// reads it. Plain constexpr C++, shared by host and device.
#pragma once

#include "arch/tensor_map.hpp"
#include "layout/matrix_descriptor.hpp"
#include "layout/product.hpp"

namespace quarry::gemm_sm90 {

/// Not there: a compiler that wants it has found a constant box whose tile no matrix instruction takes.
unsigned long long tile_without_descriptor();

/// A line is what is contiguous in memory: the K extent of one row or column of the problem, or the M or N
/// extent at one k. In shared memory a tile is cut into panels of up to 128 bytes of every line; in a panel,
/// line follows line, the 16-byte chunks of each permuted.
struct OperandBox {
  bool k_contiguous;
  int extent;         ///< elements along M or N
  int k;              ///< elements along K
  int element_bytes;  ///< 1, 2 or 4
  int sharers;        ///< blocks of the cluster that need the same tile: each loads for all

  constexpr int lines() const { return k_contiguous ? extent : k; }
  constexpr int line_elements() const { return k_contiguous ? k : extent; }

  /// Bytes of a line in a panel: the largest of 128, 64, 32 and 16 that divides the line.
  constexpr int panel_line_bytes() const {
    const int line = line_elements() * element_bytes;
    return line % 128 == 0 ? 128 : line % 64 == 0 ? 64 : line % 32 == 0 ? 32 : 16;
  }
  constexpr int panel_line_elements() const { return panel_line_bytes() / element_bytes; }
  constexpr int panels() const { return line_elements() / panel_line_elements(); }
  constexpr int panel_bytes() const { return lines() * panel_line_bytes(); }
  constexpr int bytes() const { return panels() * panel_bytes(); }

  /// Whether the sharers load whole tiles in turns, one each K tile: where its lines cannot be cut into parts
  /// of eights, which are what a swizzle repeats after. Otherwise each loads a part of every tile.
  constexpr bool in_turns() const { return lines() % (8 * sharers) != 0; }

  /// Parts of a panel that are loaded for all sharers, by a block each; their lines, and bytes.
  constexpr int parts() const { return in_turns() ? 1 : sharers; }
  constexpr int part_lines() const { return lines() / parts(); }
  constexpr int part_bytes() const { return part_lines() * panel_line_bytes(); }

  /// How the chunks of panels are permuted, and what the copy engine calls it.
  constexpr layout::Swizzle permutation() const { return layout::chunk_swizzle(panel_line_bytes()); }
  constexpr TensorSwizzle swizzle() const { return static_cast<TensorSwizzle>(permutation().bits); }

  /// The tile as a layout, (byte of a line, line) -> byte, chunks not yet permuted: copies of a panel along
  /// the lines.
  constexpr layout::Layout tile() const {
    return blocked_product(layout::compact(panel_line_bytes(), lines()), layout::compact(panels()));
  }

  /// Where its elements begin, (along M or N, along K) -> byte; the same as they lie, permuted.
  constexpr layout::Layout elements() const {
    const layout::Layout bytes = tile();
    const layout::Layout along = composition(mode(bytes, 0), layout::leaf(line_elements(), element_bytes));
    const layout::Layout down = mode(bytes, 1);
    return k_contiguous ? nested(down, along) : nested(along, down);
  }
  constexpr layout::SwizzledLayout shared() const { return composition(permutation(), elements()); }

  /// What the copy engine writes at once, a part of a panel: (byte of a line, line) -> byte.
  constexpr layout::Layout part() const { return layout::compact(panel_line_bytes(), part_lines()); }

  /// tile()(byte, line), cheap enough for device code where it is not constant.
  constexpr int offset(int byte, int line) const {
    return byte / panel_line_bytes() * panel_bytes() + line * panel_line_bytes() + byte % panel_line_bytes();
  }

  /// The fields of the tile's matrix descriptor. Faulty where it is not a tile that the matrix instruction
  /// takes: of lines that are no multiple of 16 bytes, or not a multiple of eight lines.
  constexpr layout::MatrixFields fields() const { return matrix_fields(tile(), permutation(), k_contiguous); }

  /// The matrix descriptor of a tile at address 0, of a box that is a constant.
  consteval unsigned long long descriptor() const {
    return fields().fault == layout::Fault::none ? fields().bits() : tile_without_descriptor();
  }

  /// Bytes from the start of the tile to where the operand of an instruction begins, the step-th along K: 32
  /// bytes of lines, or as many lines as they have elements.
  constexpr int k_step_offset(int step) const {
    return k_contiguous ? offset(step * 32, 0) : offset(0, step * 32 / element_bytes);
  }

  /// The same for the n-th block of 64 rows.
  constexpr int block_offset(int block) const {
    return k_contiguous ? offset(0, block * 64) : offset(block * 64 * element_bytes, 0);
  }

  friend constexpr bool operator==(const OperandBox&, const OperandBox&) = default;
};

}  // namespace quarry::gemm_sm90
