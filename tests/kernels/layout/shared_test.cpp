/// Other layouts of shared memory and of registers: tiles of gemm_sm80, boxes of the output, sums.
#include <bit>
#include <map>

#include "gemm_sm80/sums_layout.hpp"
#include "gemm_sm90/output_box.hpp"
#include "gemm_sm90/sums_layout.hpp"
#include "layout/swizzled_tile.hpp"
#include "support/random_layout.hpp"

namespace quarry {
namespace {

using namespace quarry::test;

/// Of the eight places of 16 bytes that shared memory serves at once, the place of an offset.
int bank_of(int offset) { return offset / 16 % 8; }

TEST_CASE("a swizzled tile is its layout after its swizzle") {
  for (int chunks = 1; chunks <= 64; ++chunks) {
    const SwizzledTile tile = {chunks};
    REQUIRE(tile.swizzle().valid());
    for (const int lines : {8, 16, 48, 64, 256}) {
      INFO(chunks << " chunks, " << lines << " lines");
      const layout::Layout places = tile.places(lines);
      REQUIRE(cosize(places) == chunks * lines);
      std::set<int> taken;
      const bool is_swizzle = (chunks & (chunks - 1)) == 0;
      // The same permutation as one of places, in lines of a power of two of chunks.
      const layout::Swizzle of_places = {
          tile.swizzle().bits, 0, chunks <= 8 ? 3 : static_cast<int>(std::bit_width(unsigned(chunks))) - 1};
      for (int line = 0; line < lines; ++line) {
        for (int chunk = 0; chunk < chunks; ++chunk) {
          const int index = chunk % tile.period() + tile.period() * line;
          const int other = chunk / tile.period() * tile.period() * lines;
          REQUIRE(tile.offset(line, chunk) == 16 * places(tile.swizzle()(index) + other));
          if (is_swizzle) REQUIRE(tile.offset(line, chunk) == 16 * of_places(line * chunks + chunk));
          REQUIRE(taken.insert(tile.offset(line, chunk)).second);
        }
      }
      REQUIRE(*taken.rbegin() == 16 * (chunks * lines - 1));
      // Eight lines' same chunk: no two in one bank, but where lines have an odd number of periods.
      for (int chunk = 0; chunk < chunks; ++chunk) {
        std::set<int> banks;
        for (int line = 0; line < 8; ++line) banks.insert(bank_of(tile.offset(line, chunk)));
        if (is_swizzle || chunks % 2 == 1) REQUIRE(banks.size() == 8);
      }
    }
  }
}

TEST_CASE("boxes of the output lie as the copy engine reads them, without bank conflicts") {
  for (const bool row_major : {true, false}) {
    for (const int element_bytes : {2, 4}) {
      for (int n = 8; n <= 256; n += 8) {
        const gemm_sm90::OutputBox box = gemm_sm90::output_box(row_major, n, element_bytes);
        INFO((row_major ? "row" : "column") << "-major, n " << n << ", " << element_bytes << " bytes");
        REQUIRE(n % box.columns == 0);
        REQUIRE(box.line_bytes() % 16 == 0);
        if (box.swizzle() != TensorSwizzle::none)
          REQUIRE(box.line_bytes() == 16 << static_cast<int>(box.swizzle()));
        std::set<int> taken;
        for (int line = 0; line < box.lines(); ++line) {
          for (int chunk = 0; chunk < box.line_bytes() / 16; ++chunk) {
            const int offset = line * box.line_bytes() + chunk * 16;
            const int bits = static_cast<int>(box.swizzle());
            const int expected = offset ^ (offset >> 3 & ((1 << bits) - 1) << 4);
            REQUIRE(box.chunk_offset(line, chunk) == expected);
            REQUIRE(box.shared()(chunk * 16, line) == expected);
            REQUIRE(taken.insert(expected).second);
          }
        }
        REQUIRE(*taken.rbegin() == box.bytes() - 16);
        for (int chunk = 0; chunk < box.line_bytes() / 16 && box.lines() >= 8; ++chunk) {
          std::set<int> banks;
          for (int line = 0; line < 8; ++line) banks.insert(bank_of(box.chunk_offset(line, chunk)));
          REQUIRE(banks.size() == 8);
        }
      }
    }
  }
}

TEST_CASE("an element of a box is found from a lane's own by the columns between them") {
  for (const bool row_major : {true, false}) {
    for (const int element_bytes : {2, 4}) {
      for (int n = 8; n <= 256; n += 8) {
        const gemm_sm90::OutputBox box = gemm_sm90::output_box(row_major, n, element_bytes);
        INFO((row_major ? "row" : "column") << "-major, n " << n << ", " << element_bytes << " bytes");
        for (int column = 0; column < box.columns; ++column) {
          for (int row = 0; row < box.rows; ++row) {
            const int own = box.offset(row % 8, column % 8);
            REQUIRE(box.moved(own, row / 8 * 8, column / 8 * 8) == box.offset(row, column));
            const int line = row_major ? row : column;
            const int byte = (row_major ? column : row) * element_bytes;
            REQUIRE(box.offset(row, column) == box.shared()(byte, line));
            if (column + 16 > box.columns) continue;
            const int pair = box.offset(row, column % 16);
            REQUIRE(box.moved(pair, 0, column / 16 * 16) == box.offset(row, column));
          }
        }
      }
    }
  }
}

TEST_CASE("a warp's sums are where the PTX ISA says") {
  const layout::Layout sums = layout::warp_sums();
  std::set<int> taken;
  for (int lane = 0; lane < 32; ++lane) {
    for (int value = 0; value < 4; ++value) {
      const int row = lane / 4 + value / 2 * 8;
      const int column = lane % 4 * 2 + value % 2;
      REQUIRE(sums(lane, value) == row + 16 * column);
      taken.insert(sums(lane, value));
    }
  }
  REQUIRE(taken.size() == 16 * 8);
}

TEST_CASE("a warpgroup's sums are where the PTX ISA says") {
  for (int n = 8; n <= 256; n += 8) {
    const layout::Layout sums = layout::warpgroup_sums(n);
    std::set<int> taken;
    for (int thread = 0; thread < 128; ++thread) {
      for (int value = 0; value < n / 2; ++value) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + value / 2 % 2 * 8;
        const int column = value / 4 * 8 + thread % 4 * 2 + value % 2;
        REQUIRE(sums(thread, value) == row + 64 * column);
        taken.insert(sums(thread, value));
      }
    }
    REQUIRE(taken.size() == static_cast<std::size_t>(64 * n));
  }
}

constexpr Types types = {DType::f16, DType::f16, DType::f32, DType::f16};
constexpr Layouts layouts = {Layout::row, Layout::column, Layout::row};

TEST_CASE("a block of gemm_sm80 holds each sum once, as its epilogue takes them") {
  for (const Warps warps : {Warps{2, 2, 1}, Warps{1, 4, 1}, Warps{2, 1, 2}, Warps{1, 1, 1}}) {
    for (const Tile tile : {Tile{128, 128, 32}, Tile{64, 128, 64}, Tile{32, 192, 64}}) {
      const gemm_sm80::Config c = {types, layouts, tile, warps, 3, {8, 8}};
      const Tile warp = warp_tile(c);
      const layout::Layout sums = block_sums(c);
      REQUIRE(size(mode(sums, 0)) == threads(c));
      std::map<int, int> holders;
      for (int thread = 0; thread < threads(c); ++thread) {
        const int number = thread / 32;
        const int lane = thread % 32;
        int value = 0;
        for (int m = 0; m < warp.m / 16; ++m) {
          for (int n = 0; n < warp.n / 8; ++n) {
            for (int i = 0; i < 4; ++i, ++value) {
              const int row = number % warps.m * warp.m + m * 16 + lane / 4 + i / 2 * 8;
              const int column = number / warps.m % warps.n * warp.n + n * 8 + lane % 4 * 2 + i % 2;
              REQUIRE(sums(thread, value) == row + tile.m * column);
              ++holders[row + tile.m * column];
            }
          }
        }
        REQUIRE(value == size(mode(sums, 1)));
      }
      REQUIRE(holders.size() == static_cast<std::size_t>(tile.m * tile.n));
      for (const auto& [sum, count] : holders) REQUIRE(count == warps.k);
    }
  }
}

TEST_CASE("a block of gemm_sm90 holds each sum once, with ping_pong once for each warpgroup") {
  for (const Schedule schedule : {Schedule::cooperative, Schedule::ping_pong, Schedule::one_tile}) {
    for (const int m : {64, 128, 192, 256}) {
      for (const int n : {8, 24, 128}) {
        const gemm_sm90::Config c = {types,    layouts,         {m, n, 64},          {1, 1}, 4,
                                     schedule, CopyEngine::tma, Orientation::direct, {8, 8}};
        const layout::Layout sums = block_sums(c);
        REQUIRE(size(mode(sums, 0)) == threads(c) - gemm_sm90::warpgroup_threads);
        REQUIRE(size(mode(sums, 1)) == accumulator_registers(c));
        std::map<int, int> holders;
        for (int i = 0; i < size(sums); ++i) ++holders[sums(i)];
        REQUIRE(holders.size() == static_cast<std::size_t>(m * n));
        REQUIRE(cosize(sums) == m * n);
        for (const auto& [sum, count] : holders) REQUIRE(count == (schedule == Schedule::ping_pong ? 2 : 1));
        // The second warpgroup's rows follow the first's.
        const int rows = schedule == Schedule::ping_pong ? 0 : 64 * blocks_m(c);
        if (consumers(c) > 1) REQUIRE(sums(128, 0) == rows);
        if (blocks_m(c) > 1) REQUIRE(sums(0, n / 2) == 64);
      }
    }
  }
}

}  // namespace
}  // namespace quarry
