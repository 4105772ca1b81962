/// What gemm_sm90 computes from the layouts of its operands' tiles: against models of the hardware that say
/// for each element where the copy engine puts it, and where the matrix instruction looks for it.
#include <map>

#include "gemm_sm90/operand_box.hpp"
#include "support/random_layout.hpp"

namespace quarry::gemm_sm90 {
namespace {

using namespace quarry::test;
using layout::Fault;

/// What a swizzle of the copy engine and of the matrix instruction does to an address: bits 4 to 6 are XORed
/// with bits 7 to 9, as many as the swizzle has (PTX ISA, swizzling modes).
unsigned swizzled(unsigned address, int line_bytes) {
  const unsigned mask = line_bytes == 128 ? 0x70 : line_bytes == 64 ? 0x30 : line_bytes == 32 ? 0x10 : 0;
  return address ^ (address >> 3 & mask);
}

/// An element of a tile: along M or N, and along K.
using Element = std::pair<int, int>;

/// Where the copy engine puts the tile's elements when it lies at an address: panel by panel and part by
/// part, in each the bytes of a line, then the lines.
std::map<unsigned, Element> copied(const OperandBox& box, unsigned address) {
  std::map<unsigned, Element> elements;
  for (int panel = 0; panel < box.panels(); ++panel) {
    for (int part = 0; part < box.parts(); ++part) {
      unsigned to = address + static_cast<unsigned>(panel * box.panel_bytes() + part * box.part_bytes());
      for (int line = 0; line < box.part_lines(); ++line) {
        for (int i = 0; i < box.panel_line_elements(); ++i, to += static_cast<unsigned>(box.element_bytes)) {
          const int along = panel * box.panel_line_elements() + i;
          const int down = part * box.part_lines() + line;
          const Element element = box.k_contiguous ? Element(down, along) : Element(along, down);
          REQUIRE(elements.emplace(swizzled(to, box.panel_line_bytes()), element).second);
        }
      }
    }
  }
  return elements;
}

/// The fields of a descriptor (PTX ISA, matrix descriptor).
struct Descriptor {
  explicit Descriptor(unsigned long long bits)
      : start(static_cast<unsigned>(bits & 0x3fff) * 16),
        leading(static_cast<int>(bits >> 16 & 0x3fff) * 16),
        stride(static_cast<int>(bits >> 32 & 0x3fff) * 16) {
    constexpr int lines[] = {16, 128, 64, 32};
    line_bytes = lines[bits >> 62];
  }
  unsigned start;
  int leading;
  int stride;
  int line_bytes;
};

/// Where the matrix instruction looks for element (mn, k) of an operand (PTX ISA, canonical layouts of
/// wgmma).
unsigned address_read(const Descriptor& d, bool k_major, int mn, int k, int element_bytes) {
  const int chunk_elements = 16 / element_bytes;
  const int along = k_major ? k : mn;
  const int line = k_major ? mn : k;
  const int chunk = along / chunk_elements;
  int offset = along % chunk_elements * element_bytes + line % 8 * d.line_bytes;
  if (d.line_bytes > 16) {
    const int chunks = d.line_bytes / 16;
    offset += chunk % chunks * 16 + chunk / chunks * d.leading + line / 8 * d.stride;
    if (k_major) REQUIRE(chunk < chunks);  // a step of K lies in one line
  } else if (k_major) {
    offset += chunk * d.leading + line / 8 * d.stride;
  } else {
    offset += chunk * d.stride + line / 8 * d.leading;
  }
  return swizzled(d.start + static_cast<unsigned>(offset), d.line_bytes);
}

/// All boxes of tiles that a config can have.
template <class Function>
void for_each_box(const Function& function) {
  for (const int element_bytes : {1, 2, 4}) {
    for (const bool k_contiguous : {true, false}) {
      if (!k_contiguous && element_bytes != 2) continue;  // the instruction takes K along lines alone
      const int least_k = 32 / element_bytes;
      for (int extent = 8; extent <= 256; extent += 8) {
        if (!k_contiguous && extent * element_bytes % 16 != 0) continue;
        for (int k = least_k; k <= 8 * least_k; k += least_k) {
          for (const int sharers : {1, 2, 4}) {
            function(OperandBox{k_contiguous, extent, k, element_bytes, sharers});
          }
        }
      }
    }
  }
}

std::string text_of(const OperandBox& b) {
  return std::string(b.k_contiguous ? "K-major " : "MN-major ") + std::to_string(b.extent) + "x" +
         std::to_string(b.k) + " of " + std::to_string(b.element_bytes) + " bytes for " +
         std::to_string(b.sharers);
}

TEST_CASE("what the matrix instruction reads is what the copy engine wrote") {
  int boxes = 0;
  for_each_box([&](const OperandBox& box) {
    if (box.sharers != 1 && box.extent % 48 != 0) return;  // parts are tried on some extents
    INFO(text_of(box));
    ++boxes;
    const unsigned address = 3 * 1024;  // tiles begin where the widest swizzle does
    const std::map<unsigned, Element> elements = copied(box, address);
    REQUIRE(box.fields().fault == Fault::none);
    const int k_elements = 32 / box.element_bytes;
    // A left operand of 64 rows at a time, a right one as a whole.
    for (const int block_extent : {64, box.extent}) {
      for (int block = 0; (block + 1) * block_extent <= box.extent; ++block) {
        for (int step = 0; step < box.k / k_elements; ++step) {
          const int offset = (block_extent == 64 ? box.block_offset(block) : 0) + box.k_step_offset(step);
          REQUIRE(offset % 16 == 0);
          const Descriptor d(box.fields().bits() + (address + static_cast<unsigned>(offset)) / 16);
          for (int mn = 0; mn < block_extent; ++mn) {
            for (int k = 0; k < k_elements; ++k) {
              const auto found = elements.find(address_read(d, box.k_contiguous, mn, k, box.element_bytes));
              if (found == elements.end() ||
                  found->second != Element(block * block_extent + mn, step * k_elements + k)) {
                FAIL("element " << mn << ", " << k << " of block " << block << ", step " << step);
              }
            }
          }
        }
      }
    }
  });
  CHECK(boxes > 900);
}

TEST_CASE("blocks take turns where a tile has no part of eight lines for each") {
  for_each_box([](const OperandBox& box) {
    INFO(text_of(box));
    const bool has_parts = box.lines() % (8 * box.sharers) == 0;
    CHECK(box.in_turns() == !has_parts);
    CHECK(box.part_lines() == (has_parts ? box.lines() / box.sharers : box.lines()));
  });
}

TEST_CASE("the layouts of a box agree with what is computed for device code") {
  for_each_box([](const OperandBox& box) {
    INFO(text_of(box));
    const layout::Layout tile = box.tile();
    REQUIRE(tile);
    const int line_bytes = box.line_elements() * box.element_bytes;
    REQUIRE(size(mode(tile, 0)) == line_bytes);
    REQUIRE(size(tile) == box.bytes());
    REQUIRE(cosize(tile) == box.bytes());
    for (int line = 0; line < box.lines(); ++line) {
      for (int byte = 0; byte < line_bytes; byte += box.element_bytes) {
        if (tile(byte, line) != box.offset(byte, line)) FAIL("byte " << byte << " of line " << line);
      }
    }
    const layout::Layout elements = box.elements();
    const int k_elements = 32 / box.element_bytes;
    for (int step = 0; step < box.k / k_elements; ++step) {
      REQUIRE(elements(0, step * k_elements) == box.k_step_offset(step));
    }
    for (int block = 0; block < box.extent / 64; ++block) {
      REQUIRE(elements(block * 64, 0) == box.block_offset(block));
    }
    // Parts begin where the swizzle does, so that each can be written as if it began at 0.
    REQUIRE(box.part_bytes() % box.permutation().period() == 0);
    REQUIRE(box.panel_bytes() % box.permutation().period() == 0);
    const layout::Layout part = box.part();
    REQUIRE(size(part) == box.part_bytes());
    const int last_line = box.part_lines() - 1;
    const int last_byte = box.panel_line_bytes() - 1;
    const int first_line = (box.parts() - 1) * box.part_lines();
    REQUIRE(part(last_byte, last_line) + (box.parts() - 1) * box.part_bytes() ==
            tile(last_byte, first_line + last_line));
    REQUIRE(static_cast<int>(box.swizzle()) == box.permutation().bits);
  });
}

/// The fields as closed formulas.
layout::MatrixFields closed_form(const OperandBox& box) {
  const int line = box.panel_line_bytes();
  const bool exchanged = !box.k_contiguous && line == 16;
  return {.leading = exchanged ? 8 * line : box.panel_bytes(),
          .stride = exchanged ? box.panel_bytes() : 8 * line,
          .mode = line == 128  ? 1
                  : line == 64 ? 2
                  : line == 32 ? 3
                               : 0};
}

TEST_CASE("descriptors have the fields that the PTX ISA asks for") {
  for_each_box([](const OperandBox& box) {
    INFO(text_of(box));
    REQUIRE(box.fields() == closed_form(box));
  });
  // K-major, 128-byte lines: eight rows are 1,024 bytes.
  constexpr OperandBox k_major = {true, 128, 64, 2, 1};
  static_assert(k_major.descriptor() == (1ull << 62 | 1024ull / 16 << 32 | 128ull * 128 / 16 << 16));
  // N-major, 256 columns: panels of 64 columns, 64 k each.
  constexpr OperandBox n_major = {false, 256, 64, 2, 1};
  static_assert(n_major.descriptor() == (1ull << 62 | 1024ull / 16 << 32 | 64ull * 128 / 16 << 16));
  // N-major, 8 columns: no swizzle, and the distances change places.
  constexpr OperandBox narrow = {false, 8, 64, 2, 1};
  static_assert(narrow.descriptor() == (1024ull / 16 << 32 | 128ull / 16 << 16));
}

TEST_CASE("tiles that no matrix instruction takes are faulty") {
  CHECK(OperandBox{true, 12, 64, 2, 1}.fields().fault == Fault::out_of_domain);
  CHECK(OperandBox{false, 64, 12, 2, 1}.fields().fault == Fault::out_of_domain);
  CHECK(OperandBox{true, 64, 4, 2, 1}.fields().fault != Fault::none);
  CHECK(OperandBox{true, 0, 64, 2, 1}.fields().fault != Fault::none);
  CHECK(OperandBox{true, -64, 64, 2, 1}.fields().fault != Fault::none);
  CHECK(OperandBox{true, 1 << 20, 64, 2, 1}.fields().fault == Fault::too_large);
  CHECK(OperandBox{true, 1 << 24, 64, 2, 1}.fields().fault == Fault::too_large);
  using namespace layout;
  const layout::Layout tile = compact(128, 64);
  CHECK(matrix_fields(tile, chunk_swizzle(128), true).fault == Fault::none);
  CHECK(matrix_fields(tile, Swizzle{3, 4, 4}, true).fault == Fault::indivisible);
  CHECK(matrix_fields(tile, Swizzle{-1, 4, 3}, true).fault == Fault::indivisible);
  // Lines apart, panels at uneven distances, panels too far apart.
  CHECK(matrix_fields(nested(leaf(128, 1), leaf(64, 256)), chunk_swizzle(128), true).fault ==
        Fault::indivisible);
  const auto panels = [](const layout::Layout& along) {
    return nested(nested(leaf(128, 1), along), leaf(8, 128));
  };
  CHECK(matrix_fields(panels(leaf(2, 1024)), chunk_swizzle(128), true).fault == Fault::none);
  CHECK(matrix_fields(panels(nested(leaf(2, 1024), leaf(2, 4096))), chunk_swizzle(128), true).fault ==
        Fault::indivisible);
  CHECK(matrix_fields(panels(leaf(2, 1032)), chunk_swizzle(128), true).fault == Fault::indivisible);
  CHECK(matrix_fields(panels(leaf(2, 1 << 18)), chunk_swizzle(128), true).fault == Fault::too_large);
  CHECK(matrix_fields(leaf(0, 1), chunk_swizzle(128), true).fault == Fault::bad_leaf);
}

}  // namespace
}  // namespace quarry::gemm_sm90
