/// GEMM with plain fused multiply-add, or for bytes dot products of four, for any stride and alignment: a
/// tile of each operand in shared memory while the next one is on its way through registers.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/epilogue.cuh"
#include "common/interleaved.hpp"
#include "common/operand_part.cuh"
#include "common/staged_tile.cuh"
#include "common/tile_scheduler.cuh"
#include "common/tile_writer.cuh"
#include "gemm/params.hpp"
#include "gemm/scale_view.cuh"
#include "gemm_simt/config.hpp"
#include "gemm_simt/multiply.cuh"
#include "gemm_simt/operand_loader.cuh"
#include "gemm_simt/pipeline.cuh"
#include "gemm_simt/vector_source.cuh"
#include "gemm_simt/word_source.cuh"
#include "gemm_simt/zeros.cuh"

namespace quarry::gemm_simt {

/// How wide a thread reads `count` neighbours.
constexpr int vector_width(int count) { return count % 4 == 0 ? 4 : count % 2 == 0 ? 2 : 1; }

/// What follows from a config inside the kernel.
template <Config config>
struct Shape {
  static constexpr int threads = gemm_simt::threads(config);
  static constexpr int threads_n = config.tile.n / config.thread_n;  ///< threads that share rows
  /// A thread has `thread_m` neighbouring rows, but its columns in vectors that are `column_step` apart, so
  /// that neighbouring threads read neighbouring vectors.
  static constexpr int width_m = vector_width(config.thread_m);
  static constexpr int width_n = vector_width(config.thread_n);
  static constexpr int column_step = threads_n * width_n;

  using C = Compute<config.types.accumulator>;
  using A = Element<config.types.a>;
  using B = Element<config.types.b>;
  using Multiply = gemm_simt::Multiply<config.types.a, config.types.b, config.types.accumulator>;
  using ItemA = typename Multiply::ItemA;
  using ItemB = typename Multiply::ItemB;
  using LoaderA = OperandLoader<A, ItemA, packed_k(config), config.tile.m, k_steps(config), threads,
                                walk_a(config.layouts.a), false, Zeros<config, config.types.a>>;
  using LoaderB = OperandLoader<B, ItemB, packed_k(config), config.tile.n, k_steps(config), threads,
                                walk_b(config.layouts.b), false, Zeros<config, config.types.b>>;
  using GatedLoaderB = OperandLoader<B, ItemB, packed_k(config), config.tile.n, k_steps(config), threads,
                                     walk_b(config.layouts.b), true>;

  static_assert(config.tile.m % config.thread_m == 0 && config.tile.n % config.thread_n == 0,
                "threads share the tile evenly");
  static_assert(config.tile.n % 4 == 0, "the output leaves in fours");
};

/// The sums of one thread.
template <class C, int rows, int columns>
struct ThreadSums {
  C of[rows][columns] = {};
};
template <Config config>
using Sums = ThreadSums<typename Shape<config>::C, config.thread_m, config.thread_n>;

/// Column of a thread's j-th sum in a row.
template <Config config>
QUARRY_DEVICE int column_of(int thread_column, int j) {
  using S = Shape<config>;
  return j / S::width_n * S::column_step + thread_column * S::width_n + j % S::width_n;
}

/// Adds the products of one stage to a thread's sums, one step along K after another.
template <Config config>
QUARRY_DEVICE void multiply_stage(arch::SharedAddress stage, int thread_row, int thread_column,
                                  Sums<config>& sums) {
  using S = Shape<config>;
  using VectorM = arch::Vector<typename S::ItemA, S::width_m>;
  using VectorN = arch::Vector<typename S::ItemB, S::width_n>;
  constexpr int item_bytes = compute_bytes(config);
  arch::SharedAddress line_a = stage + thread_row * config.thread_m * item_bytes;
  arch::SharedAddress line_b = stage + stage_bytes_a(config) + thread_column * S::width_n * item_bytes;
  QUARRY_UNROLL
  for (int step = 0; step < k_steps(config); ++step) {
    VectorM a[config.thread_m / S::width_m];
    VectorN b[config.thread_n / S::width_n];
    QUARRY_UNROLL
    for (int i = 0; i < config.thread_m / S::width_m; ++i) {
      a[i] = arch::shared_load<VectorM>(line_a + i * S::width_m * item_bytes);
    }
    QUARRY_UNROLL
    for (int j = 0; j < config.thread_n / S::width_n; ++j) {
      b[j] = arch::shared_load<VectorN>(line_b + j * S::column_step * item_bytes);
    }
    QUARRY_UNROLL
    for (int i = 0; i < config.thread_m; ++i) {
      QUARRY_UNROLL
      for (int j = 0; j < config.thread_n; ++j) {
        sums.of[i][j] = S::Multiply::add(a[i / S::width_m].v[i % S::width_m],
                                         b[j / S::width_n].v[j % S::width_n], sums.of[i][j]);
      }
    }
    line_a = line_a + line_elements(config.tile.m) * item_bytes;
    line_b = line_b + line_elements(config.tile.n) * item_bytes;
  }
}

/// Adds up the products of `k_tiles` K tiles of two operand sources, such as OperandLoader: `fetch` reads the
/// next tile, `put` writes it to a stage. Of the two stages one is read while the other is written. Calls
/// `multiplied(tile)` when the products of a tile have been added.
template <Config config, class SourceA, class SourceB, class Multiplied>
QUARRY_DEVICE void mainloop(SourceA source_a, SourceB source_b, int k_tiles, int thread_row,
                            int thread_column, Sums<config>& sums, const Multiplied& multiplied) {
  constexpr int stage_bytes = stage_bytes_a(config) + stage_bytes_b(config);
  arch::SharedAddress read = arch::shared_memory();
  arch::SharedAddress written = read + stage_bytes;
  const auto put = [&](arch::SharedAddress stage) {
    source_a.put(stage);
    source_b.put(stage + stage_bytes_a(config));
  };
  source_a.fetch();
  source_b.fetch();
  put(read);
  arch::block_barrier();
  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile) {
    source_a.fetch();  // past the last tile: zeros, from nowhere
    source_b.fetch();
    multiply_stage<config>(read, thread_row, thread_column, sums);
    multiplied(tile);
    put(written);
    arch::block_barrier();
    const arch::SharedAddress other = read;
    read = written;
    written = other;
  }
}

/// The order in which sums leave one by one. The assembler puts sums and numbers of B into different banks of
/// registers where it can: with 8 x 8 outputs a thread from left to right, with 16 x 8 only in this order (of
/// 1,024 products of 256x128x8, 212 read two numbers from one bank, from left to right 956).
template <Config config>
constexpr int leaving(int number) {
  constexpr int columns = config.thread_n;
  return turns_back(config) || columns % 5 == 0 ? number : number * 5 % columns;
}

/// Puts one pass of sums into shared memory: one row of each thread.
template <Config config, class C, class Staged>
QUARRY_DEVICE void stage_sums(const ThreadSums<C, config.thread_m, config.thread_n>& sums, int thread_row,
                              int thread_column, int pass, const Staged& staged) {
  using S = Shape<config>;
  QUARRY_UNROLL
  for (int i = 0; i < config.thread_m; ++i) {
    if (i != pass) continue;
    if constexpr (is_pipelined(config) && !swaps_neighbours(config)) {
      QUARRY_UNROLL
      for (int number = 0; number < config.thread_n; ++number) {
        const int j = leaving<config>(number);
        arch::shared_store(staged.at(thread_row, column_of<config>(thread_column, j)), sums.of[i][j]);
      }
    } else {
      QUARRY_UNROLL
      for (int j = 0; j < config.thread_n; j += S::width_n) {
        arch::Vector<C, S::width_n> neighbours;
        QUARRY_UNROLL
        for (int v = 0; v < S::width_n; ++v) neighbours.v[v] = sums.of[i][j + v];
        arch::shared_store(staged.at(thread_row, column_of<config>(thread_column, j)), neighbours);
      }
    }
  }
}

/// Sums times scales: f32, or f64 beside f64.
template <Config config>
using Promoted = Compute<compute_type(config.types.accumulator, DType::f32)>;
template <Config config>
using PromotedSums = ThreadSums<Promoted<config>, config.thread_m, config.thread_n>;

/// The scales of both operands for a block of K: the numbers of the block that has them.
struct BlockScales {
  const ScaleView& a;
  const ScaleView& b;
  int block_a;
  int block_b;
};
template <Config config>
QUARRY_DEVICE BlockScales scales_at(int k, const ScaleView& a, const ScaleView& b) {
  if constexpr (takes_groups(config.scales)) {
    return {a, b, a.block_at(k), b.block_at(k)};
  } else {
    return {a, b, k / scale_block, k / scale_block};
  }
}

/// Whether a K tile of the problem is the last one of a block.
template <Config config>
QUARRY_DEVICE bool ends_block(int k_tile) {
  constexpr int block = promoted_k(config);
  static_assert(block % config.tile.k == 0);
  constexpr int tiles = block / config.tile.k;
  return k_tile % tiles == tiles - 1;
}

/// promoted += scales * sums, and sums become 0. Rows and columns behind the last one repeat its scale: their
/// sums go nowhere.
/// @tparam gated of gated pairs (gated_part_of_b): the second half of a tile's columns lies half of all
/// further on
template <Config config, bool gated, class Work>
QUARRY_DEVICE void promote(const Work& work, const BlockScales& scales, int thread_row, int thread_column,
                           Sums<config>& sums, PromotedSums<config>& promoted) {
  const int first_row = work.tile_m * config.tile.m + thread_row * config.thread_m;
  constexpr int half = config.tile.n / 2;
  const int first_column = work.tile_n * (gated ? half : config.tile.n);
  using C = Promoted<config>;
  C of_row[config.thread_m];
  C of_column[config.thread_n];
  QUARRY_UNROLL
  for (int i = 0; i < config.thread_m; ++i) {
    const int base = work.a().row;
    of_row[i] = scales.a.at(base + first_row + i, base + work.m(), scales.block_a);
  }
  QUARRY_UNROLL
  for (int j = 0; j < config.thread_n; ++j) {
    int column = first_column + column_of<config>(thread_column, j);
    if (gated && column_of<config>(thread_column, j) >= half) column += work.n() / 2 - half;
    of_column[j] = scales.b.at(column, work.n(), scales.block_b);
  }
  QUARRY_UNROLL
  for (int i = 0; i < config.thread_m; ++i) {
    QUARRY_UNROLL
    for (int j = 0; j < config.thread_n; ++j) {
      const C sum = static_cast<C>(sums.of[i][j]);
      promoted.of[i][j] = multiplied_added(of_row[i] * of_column[j], sum, promoted.of[i][j]);
      sums.of[i][j] = {};
    }
  }
}

/// Writes a thread's sums through the epilogue.
template <Config config, class Epilogue, class C, class Work>
QUARRY_DEVICE void write_sums(const GemmParams& params, arch::SharedAddress memory, const Work& work,
                              int thread_row, int thread_column,
                              const ThreadSums<C, config.thread_m, config.thread_n>& sums) {
  constexpr EpilogueForm form = {.interleaved = is_interleaved(config.layouts.out)};
  using Finish = typename Epilogue::template For<C, Element<config.types.out>, form>;
  constexpr StagedRows rows = {staging_rows(config), 1, config.thread_m, 1, config.thread_m};
  const TileWriter<C, Finish, Work> writer(params, work, config.tile);
  write_tile<C, config.tile.n, rows, Shape<config>::threads>(
      memory, writer, [&](int pass, const auto& staged) {
        stage_sums<config, C>(sums, thread_row, thread_column, pass, staged);
      });
}

/// Computes one piece of work of operands with scales: the sums of 128 of K times both scales join sums of a
/// wider type. @param zeros_a, zeros_b what is taken off the elements
template <Config config, class Epilogue, class Work>
QUARRY_DEVICE void compute_scaled(const GemmParams& params, const GemmScaleParams& scales, const Work& work,
                                  arch::SharedAddress memory,
                                  const Zeros<config, config.types.a>& zeros_a = {},
                                  const Zeros<config, config.types.b>& zeros_b = {}) {
  using S = Shape<config>;
  const int thread_row = arch::thread_index() / S::threads_n;
  const int thread_column = arch::thread_index() % S::threads_n;

  PromotedSums<config> promoted;
  if (work.k_tiles > 0) {
    constexpr bool gated = has_halves<Epilogue>();
    const OperandPart a = part_of_a(params.a, work, config.tile);
    const OperandPart b =
        gated ? gated_part_of_b(params.b, work, config.tile) : part_of_b(params.b, work, config.tile);
    const int k_left = k_elements(work, config.tile.k);
    const ScaleView a_scales(scales.a, work.a().batch);
    const ScaleView b_scales(scales.b, work.b().batch);
    Sums<config> sums;
    const auto multiplied = [&](int tile) {
      const int k_tile = work.first_k_tile + tile;
      if (ends_block<config>(k_tile) || tile + 1 == work.k_tiles) {
        promote<config, gated>(work, scales_at<config>(k_tile * config.tile.k, a_scales, b_scales),
                               thread_row, thread_column, sums, promoted);
      }
    };
    if constexpr (gated) {
      mainloop<config>(typename S::LoaderA(a, k_left), typename S::GatedLoaderB(b, k_left), work.k_tiles,
                       thread_row, thread_column, sums, multiplied);
    } else {
      mainloop<config>(typename S::LoaderA(a, k_left, zeros_a), typename S::LoaderB(b, k_left, zeros_b),
                       work.k_tiles, thread_row, thread_column, sums, multiplied);
    }
  }
  write_sums<config, Epilogue>(params, memory, work, thread_row, thread_column, promoted);
}

/// Which of a tile's threads this one is, along M and N.
struct ThreadPlace {
  int row;
  int column;
};
template <Config config>
QUARRY_DEVICE ThreadPlace thread_place() {
  constexpr int threads_n = Shape<config>::threads_n;
  if constexpr (is_pipelined(config)) {
    constexpr int rows = warp_rows(config);
    constexpr int columns = warp_columns(config);
    constexpr int warps_n = threads_n / columns;
    const int warp = arch::warp_index();
    const int lane = arch::lane_index();
    return {warp / warps_n * rows + lane / columns, warp % warps_n * columns + lane % columns};
  } else {
    return {arch::thread_index() / threads_n, arch::thread_index() % threads_n};
  }
}

/// What copies an operand asynchronously: vectors where the config says so, else words.
template <Config config>
QUARRY_DEVICE auto source_of_a(const OperandPart& a, int k_left) {
  constexpr int threads = Shape<config>::threads;
  if constexpr (alignment(config).a > 1) {
    return VectorSource<config.tile.m, config.tile.k, threads, false>(a, k_left);
  } else {
    constexpr bool k_contiguous = walk_a(config.layouts.a).k_contiguous;
    return WordSource<config.tile.m, config.tile.k, threads, k_contiguous, false, false>(a, k_left);
  }
}
template <Config config, bool gated>
QUARRY_DEVICE auto source_of_b(const OperandPart& b, int k_left) {
  constexpr int threads = Shape<config>::threads;
  if constexpr (alignment(config).b > 1) {
    return VectorSource<config.tile.n, config.tile.k, threads, gated>(b, k_left);
  } else {
    constexpr bool k_contiguous = walk_b(config.layouts.b).k_contiguous;
    return WordSource<config.tile.n, config.tile.k, threads, k_contiguous, true, gated>(b, k_left);
  }
}

/// Adds up the products of a piece of work of two operands without scales.
/// @tparam gated whether B has gated pairs
template <Config config, bool gated>
QUARRY_DEVICE void add_products(const OperandPart& a, const OperandPart& b, int k_left,
                                const ThreadPlace& place, Sums<config>& sums) {
  using S = Shape<config>;
  if constexpr (is_pipelined(config)) {
    pipeline<config, S>(source_of_a<config>(a, k_left), source_of_b<config, gated>(b, k_left), a.k_tiles,
                        place.row, place.column, sums);
  } else if constexpr (gated) {
    mainloop<config>(typename S::LoaderA(a, k_left), typename S::GatedLoaderB(b, k_left), a.k_tiles,
                     place.row, place.column, sums, [](int) {});
  } else {
    mainloop<config>(typename S::LoaderA(a, k_left), typename S::LoaderB(b, k_left), a.k_tiles, place.row,
                     place.column, sums, [](int) {});
  }
}

/// The kernel: finds the block's work, multiplies, writes; without and with scales of operands.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const GemmParams& params) {
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork work = work_at(params, work_position(params, memory), config.tile.k);
  const ThreadPlace place = thread_place<config>();

  Sums<config> sums;
  if (work.k_tiles > 0) {
    constexpr bool gated = has_halves<Epilogue>();
    const OperandPart a = part_of_a(params.a, work, config.tile);
    const OperandPart b =
        gated ? gated_part_of_b(params.b, work, config.tile) : part_of_b(params.b, work, config.tile);
    add_products<config, gated>(a, b, k_elements(work, config.tile.k), place, sums);
  }
  write_sums<config, Epilogue>(params, memory, work, place.row, place.column, sums);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ScaledGemmParams& params) {
  const GemmParams& gemm = params.gemm;
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork work = work_at(gemm, work_position(gemm, memory), config.tile.k);
  compute_scaled<config, Epilogue>(gemm, params.scales, work, memory);
}
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ZeroGemmParams& params) {
  const ScaledGemmParams& scaled = params.scaled;
  const GemmParams& gemm = scaled.gemm;
  const arch::SharedAddress memory = arch::shared_memory();
  const TileWork work = work_at(gemm, work_position(gemm, memory), config.tile.k);
  const int k = work.first_k_tile * config.tile.k;
  if constexpr (is_weight(config.types.a)) {
    const ZeroView view(params.zeros.a, scaled.scales.a, work.a().batch);
    compute_scaled<config, Epilogue>(gemm, scaled.scales, work, memory,
                                     {view, work.tile_m * config.tile.m, k}, {});
  } else {
    const ZeroView view(params.zeros.b, scaled.scales.b, work.b().batch);
    compute_scaled<config, Epilogue>(gemm, scaled.scales, work, memory, {},
                                     {view, work.tile_n * config.tile.n, k});
  }
}

}  // namespace quarry::gemm_simt
