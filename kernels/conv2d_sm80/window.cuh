/// Iterator::window: products of a tile whose A lies in a patch of the image (conv2d/patches.hpp), and whose
/// B lies in shared memory as a whole.
#pragma once

#include "conv2d/patches.hpp"
#include "conv2d/places.hpp"
#include "conv2d_sm80/config.hpp"
#include "gemm_sm80/mainloop.cuh"

namespace quarry::conv2d_sm80 {

/// Where a tile begins: an image, its output's row and column.
struct TileOrigin {
  int image;
  int row;
  int column;
};

QUARRY_DEVICE TileOrigin tile_origin(const Patches& p, int tile) {
  const Index3 at = index3(tile, p.tiles_down, p.tiles_across);
  return {at.outer, at.middle * p.rows, at.inner * p.columns};
}

/// Two elements as a word, the second one 0 unless it exists.
QUARRY_DEVICE unsigned load_pair(const char* first, bool has_second) {
  const unsigned low = arch::global_load<unsigned short>(first);
  const unsigned high = has_second ? arch::global_load<unsigned short>(first + 2) : 0;
  return low | high << 16;
}

/// Brings patches of a group's channels to shared memory.
template <int threads>
class PatchLoader {
 public:
  QUARRY_DEVICE PatchLoader(const WindowConv2dParams& params, int group)
      : params_(params),
        first_(static_cast<const char*>(params.a.data) + group * params.windows.group_a * element_bytes) {}

  QUARRY_DEVICE void load(arch::SharedAddress patch, const TileOrigin& origin) const {
    const Windows& w = params_.windows;
    const char* const image = first_ + origin.image * params_.a.batch_stride * element_bytes;
    const int row = origin.row * w.rows.stride.size - w.rows.padding;
    const int column = origin.column * w.columns.stride.size - w.columns.padding;
    const int words = params_.patches.patch_rows * params_.patches.words.size;
    QUARRY_ROLLED
    for (int first = arch::thread_index(); first < words; first += at_once * threads) {
      unsigned loaded[at_once];
      QUARRY_UNROLL
      for (int i = 0; i < at_once; ++i) loaded[i] = fetch(image, row, column, first + i * threads, words);
      QUARRY_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int word = first + i * threads;
        if (word < words) arch::shared_store(patch + word * 4, loaded[i]);
      }
    }
  }

 private:
  static constexpr int element_bytes = 2;
  static constexpr int at_once = 4;  ///< words of a thread on their way together

  QUARRY_DEVICE unsigned fetch(const char* image, int row, int column, int word, int words) const {
    const Patches& p = params_.patches;
    const Windows& w = params_.windows;
    if (word >= words) return 0;
    const Divided line = divide(word, p.words);
    const Divided pixel = divide(line.rest, p.pairs);
    const int h = row + line.quotient;
    const int v = column + pixel.quotient;
    if (static_cast<unsigned>(h) >= static_cast<unsigned>(w.rows.extent) ||
        static_cast<unsigned>(v) >= static_cast<unsigned>(w.columns.extent))
      return 0;
    const int channel = 2 * pixel.rest;
    const long long offset = h * params_.a.row_stride + v * params_.a.column_stride + channel;
    return load_pair(image + offset * element_bytes, channel + 1 < w.channels.size);
  }

  const WindowConv2dParams& params_;
  const char* first_;
};

/// Pairs of a step of the product.
inline constexpr int step_pairs = 8;

QUARRY_DEVICE int steps_of(const Patches& p) { return (p.k_pairs + step_pairs - 1) / step_pairs; }

/// A pair of K as tap and pair of channels.
QUARRY_DEVICE Index3 pair_index(const WindowConv2dParams& params, int pair) {
  return index3(pair, params.windows.columns.taps, params.patches.pairs);
}

/// Brings the filters of a tile's columns to shared memory, zeros behind the last one and behind K. Each warp
/// has every so manieth column.
template <gemm_sm80::Config config, WindowMemory memory>
QUARRY_DEVICE void load_filters(const WindowConv2dParams& params, int group, int tile_n,
                                arch::SharedAddress filters) {
  constexpr int warps = gemm_sm80::threads(config) / 32;
  constexpr int lines = config.tile.n / warps;  // of a warp
  constexpr int at_once = lines % 4 == 0 ? 4 : 1;
  const MatrixParams& b = params.b;
  const int warp = arch::warp_index();
  const int column = tile_n * config.tile.n + warp;
  const char* const first =
      static_cast<const char*>(b.data) + (group * params.windows.group_b + column * b.batch_stride) * 2;
  QUARRY_ROLLED
  for (int pair = arch::lane_index(); pair < step_pairs * steps_of(params.patches); pair += 32) {
    const Index3 at = pair_index(params, pair);
    const char* const from = first + (offset_of(b, at.outer, at.middle) + 2 * at.inner) * 2;
    const bool has_second = 2 * at.inner + 1 < params.windows.channels.size;
    QUARRY_ROLLED
    for (int first_line = 0; first_line < config.tile.n; first_line += at_once * warps) {
      QUARRY_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int line = first_line + i * warps;
        unsigned word = 0;
        if (pair < params.patches.k_pairs && column + line < params.n)
          word = load_pair(from + line * b.batch_stride * 2, has_second);
        arch::shared_store(filters + (warp + line) * memory.filter_line + pair * 4, word);
      }
    }
  }
}

/// No place of the patch: a pair behind K.
inline constexpr int no_pair = -1;

/// Where the places of a lane's two pairs of a step lie: neighbours.
QUARRY_DEVICE int place_slot(int pair) {
  const int within = pair % step_pairs;
  return (pair - within + within % 4 * 2 + within / 4) * 4;
}

/// Writes where each pair of K lies in a patch, in bytes from a window's first pixel.
template <int threads>
QUARRY_DEVICE void write_places(const WindowConv2dParams& params, arch::SharedAddress places) {
  const Windows& w = params.windows;
  const Patches& p = params.patches;
  QUARRY_ROLLED
  for (int pair = arch::thread_index(); pair < step_pairs * steps_of(p); pair += threads) {
    const Index3 at = pair_index(params, pair);
    const int word = tap_distance(w.rows, at.outer, w.flips) * p.words.size +
                     tap_distance(w.columns, at.middle, w.flips) * p.pairs.size + at.inner;
    arch::shared_store(places + place_slot(pair), pair < p.k_pairs ? word * 4 : no_pair);
  }
}

/// How a warp reads its operands: A from the patch, word by word, B by matrix loads.
template <gemm_sm80::Config config, WindowMemory memory>
class WindowReader {
  using S = gemm_sm80::Shape<config>;

 public:
  QUARRY_DEVICE WindowReader(const WindowConv2dParams& params, arch::SharedAddress memory_begin) {
    const int lane = arch::lane_index();
    const gemm_sm80::WarpPlace place = gemm_sm80::warp_place<config>();
    places_ = memory_begin + (memory.places + lane % 4 * 8);
    const int column = place.n * S::warp.n + 8 * (lane / 16) + lane % 8;
    filters_ = memory_begin + (column * memory.filter_line + lane / 8 % 2 * 16);
    QUARRY_UNROLL
    for (int i = 0; i < 2 * S::blocks_m; ++i)
      windows_[i] = memory_begin + (memory.patch + window(params, place.m * S::warp.m + 8 * i + lane / 4));
  }

  QUARRY_DEVICE void load(gemm_sm80::Operands<config>& operands, int step) const {
    using Places = arch::Vector<int, 2>;
    const auto places = arch::shared_load<Places>(places_ + step * (step_pairs * 4));
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      const arch::MatrixFragment read[1] = {
          {pair(windows_[2 * m], places.v[0]), pair(windows_[2 * m + 1], places.v[0]),
           pair(windows_[2 * m], places.v[1]), pair(windows_[2 * m + 1], places.v[1])}};
      operands.a[m] = S::Multiply::a(read);
    }
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      const arch::MatrixFragment read[1] = {
          arch::load_matrix_x4(filters_ + (n * 16 * memory.filter_line + step * (step_pairs * 4)))};
      operands.b[2 * n] = S::Multiply::b(read, 0);
      operands.b[2 * n + 1] = S::Multiply::b(read, 1);
    }
  }

 private:
  static_assert(S::parts == 1 && config.warps.k == 1);

  /// Where the window of a row of the tile begins in the patch. Of rows that no output has, the first one's.
  QUARRY_DEVICE static int window(const WindowConv2dParams& params, int tile_row) {
    const Patches& p = params.patches;
    const int row = tile_row >> p.columns_log2;
    const int column = tile_row & ((1 << p.columns_log2) - 1);
    if (row >= p.rows || column >= p.columns) return 0;
    return (row * params.windows.rows.stride.size * p.words.size +
            column * params.windows.columns.stride.size * p.pairs.size) *
           4;
  }

  QUARRY_DEVICE static unsigned pair(arch::SharedAddress window, int place) {
    return place == no_pair ? 0 : arch::shared_load<unsigned>(window + place);
  }

  arch::SharedAddress places_;   ///< of the lane's pairs
  arch::SharedAddress filters_;  ///< the lane's line of a matrix load
  arch::SharedAddress windows_[2 * S::blocks_m];
};

/// The sums of a tile whose patch is there.
template <gemm_sm80::Config config, class Reader>
QUARRY_DEVICE void multiply_windows(const Reader& reader, int steps, gemm_sm80::Sums<config>& sums) {
  using S = gemm_sm80::Shape<config>;
  QUARRY_ROLLED
  for (int step = 0; step < steps; ++step) {
    gemm_sm80::Operands<config> operands;
    reader.load(operands, step);
    QUARRY_UNROLL
    for (int n = 0; n < 2 * S::blocks_n; ++n) {
      QUARRY_UNROLL
      for (int m = 0; m < S::blocks_m; ++m) S::Multiply::add(sums.block[m][n], operands.a[m], operands.b[n]);
    }
  }
}

}  // namespace quarry::conv2d_sm80
