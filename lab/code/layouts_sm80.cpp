#include "common/operand_tile.cuh"
#include "gemm_sm80/sums_layout.hpp"
#include "lab/code/layout_text.hpp"
#include "lab/code/layouts.hpp"

namespace quarry::lab {
namespace {

/// An operand's tile of one stage.
std::string operand_text(char name, const OperandTile& tile, int offset) {
  const SwizzledTile shared = tile.shared();
  const std::string extent(1, name == 'a' ? 'm' : 'n');
  const std::string line = tile.k_contiguous ? extent : "k";
  const std::string element = tile.k_contiguous ? "k" : extent;
  std::string text = "\nTile of " + std::string(1, name) + ": " + std::to_string(tile.extent) + " along " +
                     extent + ", " + std::to_string(tile.k) + " along k, " + std::to_string(tile.bytes()) +
                     " bytes from byte " + std::to_string(offset) + " of a stage on\n";
  text += "  lines along " + element + ": " + std::to_string(tile.lines()) + " of " +
          std::to_string(tile.line_elements() * tile.element_bytes) + " bytes, copied " +
          std::to_string(tile.alignment * tile.element_bytes) + " bytes at a time\n";
  const layout::Layout places = shared.places(tile.lines());
  text += "  chunks of " + std::to_string(tile.chunk_bytes()) + " bytes, (chunk, line): " + text_of(places);
  if (shared.swizzle().bits > 0) text += ", of indices permuted by " + text_of(shared.swizzle());
  text += "\n  which element begins a chunk; it repeats after eight lines:\n";
  return text + chunks_text(line, tile.lines(),
                            {shared.chunks_per_line, tile.chunk_bytes(), tile.chunk_elements()},
                            [&](int l, int chunk) { return shared.offset(l, chunk); });
}

}  // namespace

std::string layouts_of(const gemm_sm80::Config& c) {
  const OperandTile a = tile_a(c);
  const OperandTile b = tile_b(c);
  const Tile one = instruction_shape(c);
  const layout::Layout sums = block_sums(c);
  std::string text = "\nSums of a block: " + std::to_string(c.tile.m) + " rows, " + std::to_string(c.tile.n) +
                     " columns, by threads 0 to " + std::to_string(threads(c) - 1) + " (mma.m" +
                     std::to_string(one.m) + "n" + std::to_string(one.n) + "k" + std::to_string(one.k) +
                     ")\n";
  text += "  (thread, value) -> row + " + std::to_string(c.tile.m) + " * column: " + text_of(sums) + "\n";
  text += steps_text(sums, c.tile.m);
  text += "  thread:value of the first rows and columns:\n" + holders_text(sums, c.tile.m, c.tile.n, 0);
  return text + operand_text('a', a, 0) + operand_text('b', b, a.bytes());
}

}  // namespace quarry::lab
