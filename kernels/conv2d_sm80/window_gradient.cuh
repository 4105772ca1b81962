/// Iterator::window of wgrad: a K tile is a rectangle of outputs. Its A, their gradients, lies in shared
/// memory as a stage of gemm_sm80; its B, what their windows look at, lies in a patch of the image
/// (conv2d/patches.hpp), from which a lane reads single elements: what neighbouring outputs look at lies
/// apart.
#pragma once

#include "conv2d_sm80/window.cuh"
#include "gemm_sm80/mainloop.cuh"

namespace quarry::conv2d_sm80 {

/// A tile of outputs: where it begins, and how many lines and outputs of a line exist.
struct OutputRectangle {
  TileOrigin origin;
  int rows;
  int columns;

  QUARRY_DEVICE OutputRectangle(const WindowConv2dParams& params, int tile)
      : origin(tile_origin(params.patches, tile)),
        rows(present(params.patches.rows, params.windows.rows, origin.row)),
        columns(present(params.patches.columns, params.windows.columns, origin.column)) {}

 private:
  QUARRY_DEVICE static int present(int most, const WindowAxis& axis, int first) {
    const int left = axis.places.size - first;
    return left < most ? left : most;
  }
};

/// An output of a tile by its number.
struct TileOutput {
  int row;
  int column;

  QUARRY_DEVICE TileOutput(const Patches& p, int number)
      : row(number >> p.columns_log2), column(number & ((1 << p.columns_log2) - 1)) {}
  QUARRY_DEVICE bool is_in(const OutputRectangle& tile) const {
    return row < tile.rows && column < tile.columns;
  }
};

/// How far so many rows and columns of a tile lie apart in a tensor, in elements: below 2^31, as hosts check.
QUARRY_DEVICE int offset_within(const MatrixParams& tensor, int rows, int columns) {
  return rows * static_cast<int>(tensor.row_stride) + columns * static_cast<int>(tensor.column_stride);
}

/// Brings the gradients of a tile's outputs to shared memory: zeros of outputs that do not exist, and behind
/// the last filter.
template <gemm_sm80::Config config>
class GradientLoader {
  static constexpr OperandTile stage = gemm_sm80::Shape<config>::a;
  static constexpr int bytes = stage.alignment * stage.element_bytes;
  static constexpr int of_line = stage.line_elements() / stage.alignment;  ///< pieces

 public:
  QUARRY_DEVICE GradientLoader(const WindowConv2dParams& params, int group, int tile_m)
      : params_(params),
        first_(static_cast<const char*>(params.a.data) +
               (group * params.windows.group_a + tile_m * config.tile.m) * stage.element_bytes),
        filters_left_(params.m - tile_m * config.tile.m) {}

  QUARRY_DEVICE void start(arch::SharedAddress memory, const OutputRectangle& tile) const {
    const MatrixParams& a = params_.a;
    const TileOrigin& origin = tile.origin;
    const char* const first =
        first_ +
        (origin.image * a.batch_stride + offset_of(a, origin.row, origin.column)) * stage.element_bytes;
    QUARRY_ROLLED
    for (int piece = arch::thread_index(); piece < of_line * stage.k; piece += gemm_sm80::threads(config)) {
      const int line = piece / of_line;
      const int filter = piece % of_line * stage.alignment;
      const TileOutput output(params_.patches, line);
      const bool exists = output.is_in(tile) && filter < filters_left_;
      const int offset = exists ? offset_within(a, output.row, output.column) + filter : 0;
      const int to = stage.shared().offset(line, filter / stage.chunk_elements()) +
                     filter % stage.chunk_elements() * stage.element_bytes;
      arch::copy_async_or_zero<bytes>(memory + to,
                                      first + static_cast<long long>(offset) * stage.element_bytes,
                                      static_cast<unsigned>(exists));
    }
  }

 private:
  static_assert(bytes >= 4, "copies are asynchronous");

  const WindowConv2dParams& params_;
  const char* first_;
  int filters_left_;
};

/// Brings what the windows of a tile look at to shared memory, element by element, zeros around the image. A
/// group's channels of a pixel follow one another, then come the next pixel's.
template <int threads>
class ElementLoader {
 public:
  QUARRY_DEVICE ElementLoader(const WindowConv2dParams& params, int group)
      : params_(params),
        first_(static_cast<const char*>(params.b.data) + group * params.windows.group_b * bytes) {}

  QUARRY_DEVICE void load(arch::SharedAddress patch, const TileOrigin& origin) const {
    const Windows& w = params_.windows;
    const int row = origin.row * w.rows.stride.size - w.rows.padding;
    const int column = origin.column * w.columns.stride.size - w.columns.padding;
    const char* const corner =
        first_ + (origin.image * params_.b.batch_stride + offset_of(params_.b, row, column)) * bytes;
    const int all = params_.patches.patch_rows * params_.patches.words.size;
    QUARRY_ROLLED
    for (int first = arch::thread_index(); first < all; first += at_once * threads) {
      unsigned short loaded[at_once];
      QUARRY_UNROLL
      for (int i = 0; i < at_once; ++i) {
        loaded[i] = 0;
        const Place place = find(row, column, first + i * threads);
        if (place.exists && first + i * threads < all)
          loaded[i] =
              arch::global_load<unsigned short>(corner + static_cast<long long>(place.offset) * bytes);
      }
      QUARRY_UNROLL
      for (int i = 0; i < at_once; ++i) {
        const int element = first + i * threads;
        if (element < all) arch::shared_store(patch + element * bytes, loaded[i]);
      }
    }
  }

 private:
  static constexpr int bytes = 2;
  static constexpr int at_once = 8;  ///< elements of a thread on their way together

  /// Where an element of the patch lies, from the corner of the patch on, and whether it is in the image.
  struct Place {
    int offset;
    bool exists;
  };
  QUARRY_DEVICE Place find(int row, int column, int element) const {
    const Patches& p = params_.patches;
    const Windows& w = params_.windows;
    const Divided line = divide(element, p.words);
    const Divided pixel = divide(line.rest, p.pairs);
    const bool exists =
        static_cast<unsigned>(row + line.quotient) < static_cast<unsigned>(w.rows.extent) &&
        static_cast<unsigned>(column + pixel.quotient) < static_cast<unsigned>(w.columns.extent);
    return {offset_within(params_.b, line.quotient, pixel.quotient) + pixel.rest, exists};
  }

  const WindowConv2dParams& params_;
  const char* first_;
};

/// How far so many rows and pixels lie apart in a patch of elements, in bytes.
QUARRY_DEVICE int patch_distance(const Patches& p, int rows, int columns) {
  return (rows * p.words.size + columns * p.pairs.size) * 2;
}

/// What a lane wants to know of outputs 2p and 2p + 1 of a tile, and of eight outputs further on: where their
/// windows begin in the patch, in bytes, and which halves of a word exist.
struct OutputPairs {
  arch::Vector<int, 4> windows;
  arch::Vector<unsigned, 2> masks;
};

/// Pairs of outputs in shared memory, in the order in which lanes read them. @tparam outputs of a tile
template <int outputs>
struct PairTable {
  static constexpr int masks = outputs * 4;  ///< bytes of the windows, which come first
  static constexpr int bytes = masks + outputs / 2 * 4;

  /// Writes the pairs of a tile. Where no output is, a window begins with the patch.
  template <int threads>
  QUARRY_DEVICE static void write(const WindowConv2dParams& params, const OutputRectangle& tile,
                                  arch::SharedAddress table) {
    QUARRY_ROLLED
    for (int pair = arch::thread_index(); pair < outputs / 2; pair += threads) {
      arch::Vector<int, 2> windows;
      unsigned mask = 0;
      QUARRY_UNROLL
      for (int i = 0; i < 2; ++i) {
        const TileOutput output(params.patches, 2 * pair + i);
        const bool exists = output.is_in(tile);
        windows.v[i] = exists ? window_place(params, output) : 0;
        if (exists) mask |= 0xffffu << 16 * i;
      }
      const int slot = place_slot(pair);
      arch::shared_store(table + slot * 2, windows);
      arch::shared_store(table + (masks + slot), mask);
    }
  }

  /// Where the window of an output begins in the patch.
  QUARRY_DEVICE static int window_place(const WindowConv2dParams& params, const TileOutput& output) {
    const Windows& w = params.windows;
    return patch_distance(params.patches, output.row * w.rows.stride.size,
                          output.column * w.columns.stride.size);
  }

  /// What a lane needs in a step of the product.
  QUARRY_DEVICE static OutputPairs load(arch::SharedAddress table, int step) {
    const int slot = step * (step_pairs * 4) + arch::lane_index() % 4 * 8;
    return {arch::shared_load<arch::Vector<int, 4>>(table + slot * 2),
            arch::shared_load<arch::Vector<unsigned, 2>>(table + (masks + slot))};
  }
};

/// How a warp reads its operands of wgrad: A by matrix loads, B from the patch.
template <gemm_sm80::Config config, GradientMemory memory>
class GradientReader {
  using S = gemm_sm80::Shape<config>;

 public:
  QUARRY_DEVICE GradientReader(const WindowConv2dParams& params, int tile_n, arch::SharedAddress begin)
      : begin_(begin),
        place_(gemm_sm80::warp_place<config>()),
        a_(place_.m * S::warp.m, place_.k * S::warp.k) {
    const int first = tile_n * config.tile.n + place_.n * S::warp.n + arch::lane_index() / 4;
    QUARRY_UNROLL
    for (int n = 0; n < 2 * S::blocks_n; ++n)
      columns_[n] = begin + (memory.patch + column_place(params, first + 8 * n));
  }

  QUARRY_DEVICE void load(gemm_sm80::Operands<config>& operands, int step) const {
    const OutputPairs pairs =
        PairTable<config.tile.k>::load(begin_ + memory.table, place_.k * S::k_steps + step);
    QUARRY_UNROLL
    for (int m = 0; m < S::blocks_m; ++m) {
      const arch::MatrixFragment read[1] = {a_.load(begin_, step, m)};
      operands.a[m] = S::Multiply::a(read);
    }
    QUARRY_UNROLL
    for (int n = 0; n < S::blocks_n; ++n) {
      const arch::MatrixFragment read[1] = {{pair(pairs, 0, 2 * n), pair(pairs, 1, 2 * n),
                                             pair(pairs, 0, 2 * n + 1), pair(pairs, 1, 2 * n + 1)}};
      operands.b[2 * n] = S::Multiply::b(read, 0);
      operands.b[2 * n + 1] = S::Multiply::b(read, 1);
    }
  }

 private:
  static_assert(S::parts == 1);

  /// Where a column, an element of a window, lies in the patch, in bytes from the window's begin on. Of
  /// columns that no filter has, the first one's.
  QUARRY_DEVICE static int column_place(const WindowConv2dParams& params, int column) {
    if (column >= params.n) return 0;
    const Windows& w = params.windows;
    const Index3 at = tap_index(w, column);
    return patch_distance(params.patches, tap_distance(w.rows, at.outer, w.flips),
                          tap_distance(w.columns, at.middle, w.flips)) +
           2 * at.inner;
  }

  /// The elements of two neighbouring outputs; 0 where one does not exist.
  QUARRY_DEVICE unsigned pair(const OutputPairs& pairs, int half, int n) const {
    const unsigned low = arch::shared_load<unsigned short>(columns_[n] + pairs.windows.v[2 * half]);
    const unsigned high = arch::shared_load<unsigned short>(columns_[n] + pairs.windows.v[2 * half + 1]);
    return (low | high << 16) & pairs.masks.v[half];
  }

  arch::SharedAddress begin_;
  gemm_sm80::WarpPlace place_;
  typename S::ReaderA a_;
  arch::SharedAddress columns_[2 * S::blocks_n];  ///< where the first window has the lane's columns
};

/// Adds up the products of `tiles` tiles of outputs from `first` on.
template <gemm_sm80::Config config, GradientMemory memory>
QUARRY_DEVICE void sum_gradients(const WindowConv2dParams& params, const TileWork& work,
                                 arch::SharedAddress begin, gemm_sm80::Sums<config>& sums) {
  constexpr int threads = gemm_sm80::threads(config);
  const GradientLoader<config> gradients(params, work.batch, work.tile_m);
  const ElementLoader<threads> patches(params, work.batch);
  const GradientReader<config, memory> reader(params, work.tile_n, begin);
  QUARRY_ROLLED
  for (int i = 0; i < work.k_tiles; ++i) {
    const OutputRectangle tile(params, work.first_k_tile + i);
    gradients.start(begin, tile);
    arch::copy_async_commit();
    PairTable<config.tile.k>::template write<threads>(params, tile, begin + memory.table);
    patches.load(begin + memory.patch, tile.origin);
    arch::copy_async_wait<0>();
    arch::block_barrier();
    multiply_windows<config>(reader, gemm_sm80::Shape<config>::k_steps, sums);
    arch::block_barrier();  // the next tile, or the epilogue, uses the memory
  }
}

}  // namespace quarry::conv2d_sm80
