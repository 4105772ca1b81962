#include <cstdio>

#include "gemm_sm90/sums_layout.hpp"
#include "lab/code/layout_text.hpp"
#include "lab/code/layouts.hpp"

namespace quarry::lab {
namespace {

using gemm_sm90::OperandBox;
using gemm_sm90::OutputBox;

std::string number(long long value) { return std::to_string(value); }

/// How an operand's extents are called.
struct Names {
  char operand;
  std::string line;     ///< what lines are counted along
  std::string element;  ///< what runs along a line
};

/// "m 0 to 63, k 0 to 63" of a box that begins at (element, line).
std::string range_text(const Names& names, int line, int lines, int element, int elements) {
  return names.element + " " + number(element) + " to " + number(element + elements - 1) + ", " + names.line +
         " " + number(line) + " to " + number(line + lines - 1);
}

/// The boxes that the copy engine moves, and the bytes that each covers.
std::string boxes_text(const Names& names, const OperandBox& box) {
  std::string text = "  boxes of the copy engine: " + number(box.panel_line_elements()) + " elements of " +
                     number(box.part_lines()) + " lines, " + number(box.part_bytes()) + " bytes, " +
                     text_of(box.permutation());
  if (box.in_turns()) {
    text += "; " + number(box.sharers) + " blocks load it for all in turns, one each K tile";
  } else if (box.sharers > 1) {
    text += "; each of " + number(box.sharers) + " blocks loads its part for all";
  }
  text += "\n";
  for (int panel = 0; panel < box.panels(); ++panel) {
    for (int part = 0; part < box.parts(); ++part) {
      const int first = panel * box.panel_bytes() + part * box.part_bytes();
      text += "    " +
              range_text(names, part * box.part_lines(), box.part_lines(), panel * box.panel_line_elements(),
                         box.panel_line_elements()) +
              ": bytes " + number(first) + " to " + number(first + box.part_bytes() - 1);
      text += box.parts() > 1 ? ", by block " + number(part) + " of those\n" : "\n";
    }
  }
  return text;
}

/// The fields of the matrix descriptor, and how it moves.
std::string descriptor_text(const OperandBox& box, int block_step) {
  const layout::MatrixFields fields = box.fields();
  char bits[19];
  std::snprintf(bits, sizeof(bits), "0x%016llx", fields.bits());
  std::string text = "  matrix descriptor: " + std::string(bits) + " + address / 16: leading " +
                     number(fields.leading) + " bytes, stride " + number(fields.stride) + " bytes, mode " +
                     number(fields.mode) + " (" + text_of(box.permutation()) + ")\n";
  text += "    steps along k, bytes:";
  for (int step = 0; step < box.k * box.element_bytes / gemm_sm90::instruction_k_bytes; ++step)
    text += " +" + number(box.k_step_offset(step));
  text += "\n";
  if (block_step > 0) {
    text += "    blocks of 64 rows, bytes:";
    for (int block = 0; block < box.extent / block_step; ++block)
      text += " +" + number(box.block_offset(block));
    text += "\n";
  }
  return text;
}

/// An operand's tile of one stage.
std::string operand_text(char operand, const OperandBox& box, int offset, CopyEngine copy, int alignment) {
  const std::string extent(1, operand == 'a' ? 'm' : 'n');
  const Names names = {operand, box.k_contiguous ? extent : "k", box.k_contiguous ? "k" : extent};
  std::string text = "\nTile of " + std::string(1, operand) + ": " + number(box.extent) + " along " + extent +
                     ", " + number(box.k) + " along k, " + number(box.bytes()) + " bytes from byte " +
                     number(offset) + " of a stage on\n";
  text += "  (" + extent + ", k) -> byte: " + text_of(box.shared()) + "\n";
  if (copy == CopyEngine::tma) {
    text += boxes_text(names, box);
  } else {
    text += "  copied by threads, " + number(alignment * box.element_bytes) + " bytes at a time\n";
  }
  text += descriptor_text(box, operand == 'a' ? gemm_sm90::instruction_m : 0);
  text += "  which element begins 16 bytes of a line; it repeats after eight lines";
  text += box.panels() > 1 ? " and in each of " + number(box.panels()) + " panels:\n" : ":\n";
  const int chunks = box.panel_line_bytes() / layout::chunk_bytes;
  const layout::Swizzle permuted = box.permutation();
  return text + chunks_text(names.line, box.lines(),
                            {chunks, layout::chunk_bytes, layout::chunk_bytes / box.element_bytes},
                            [&](int line, int chunk) { return permuted(box.offset(16 * chunk, line)); });
}

/// The boxes in which the output leaves.
std::string output_text(const OutputBox& box) {
  const std::string line = box.row_major ? "row" : "column";
  std::string text = "\nOutput, where boxes are stored: each warp " + number(OutputBox::rows) + " rows, " +
                     number(box.columns) + " columns at a time, " + number(box.bytes()) + " bytes\n";
  text += "  (byte of a " + line + ", " + line + ") -> byte: " + text_of(box.shared()) + "\n";
  text += "  which element begins 16 bytes of a line:\n";
  return text + chunks_text(line, box.lines(),
                            {box.line_bytes() / layout::chunk_bytes, layout::chunk_bytes,
                             layout::chunk_bytes / box.element_bytes},
                            [&](int l, int chunk) { return box.chunk_offset(l, chunk); });
}

std::string sums_text(const gemm_sm90::Config& c) {
  const layout::Layout sums = block_sums(c);
  const int first = gemm_sm90::warpgroup_threads;
  std::string text = "\nSums of a block: " + number(c.tile.m) + " rows, " + number(c.tile.n) +
                     " columns, by threads " + number(first) + " to " + number(threads(c) - 1) +
                     " (wgmma.m64n" + number(c.tile.n) + "k16)";
  if (c.schedule == Schedule::ping_pong) text += ", each warpgroup with a tile of its own";
  text += "\n  (thread - " + number(first) + ", value) -> row + " + number(c.tile.m) +
          " * column: " + text_of(sums) + "\n";
  if (c.types.accumulator == DType::f16) text += "  two neighbouring values share a register\n";
  text += steps_text(sums, c.tile.m);
  return text + "  thread:value of the first rows and columns:\n" +
         holders_text(sums, c.tile.m, c.tile.n, first);
}

}  // namespace

std::string layouts_of(const gemm_sm90::Config& c) {
  const OperandBox a = box_a(c);
  return sums_text(c) + operand_text('a', a, 0, c.copy, c.alignment.a) +
         operand_text('b', box_b(c), a.bytes(), c.copy, c.alignment.b) + output_text(box_out(c));
}

}  // namespace quarry::lab
