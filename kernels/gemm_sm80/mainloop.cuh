/// The main loop of GEMM with mma.sync: operands travel through a pipeline of stages in shared memory that
/// cp.async fills, and warps multiply their part of the tile from registers.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/operand_copy.cuh"
#include "common/warp_fragments.cuh"
#include "gemm_sm80/config.hpp"
#include "gemm_sm80/multiply.cuh"

namespace quarry::gemm_sm80 {

/// What follows from a config inside the kernel.
template <Config config>
struct Shape {
  static constexpr Tile warp = warp_tile(config);
  static constexpr int threads = gemm_sm80::threads(config);
  static constexpr int blocks_m = warp.m / 16;  ///< instructions of a warp along M
  static constexpr int blocks_n = warp.n / 16;  ///< pairs of instructions along N, which share a fragment
  static constexpr int step_k = gemm_sm80::step_k(config);
  static constexpr int k_steps = warp.k / step_k;  ///< steps of a warp through a stage
  static constexpr OperandTile a = tile_a(config);
  static constexpr OperandTile b = tile_b(config);
  static constexpr int stage_bytes = a.bytes() + b.bytes();

  using Multiply = MultiplyOf<config>;
  static constexpr int parts = Multiply::parts;
  using SourceA = typename SourceOf<a, threads, copies_asynchronously(a)>::Type;
  using SourceB = typename SourceOf<b, threads, copies_asynchronously(b)>::Type;
  using GatedSourceB = typename SourceOf<b, threads, copies_asynchronously(b)>::Gated;
  using ReaderA =
      typename ReaderOf<a, Side::a, blocks_m, k_steps * parts, typename Multiply::StoredA,
                        a.has_matrix_loads() && sizeof(typename Multiply::StoredA) == a.element_bytes>::Type;
  using ReaderB =
      typename ReaderOf<b, Side::b, blocks_n, k_steps * parts, typename Multiply::StoredB,
                        b.has_matrix_loads() && sizeof(typename Multiply::StoredB) == b.element_bytes>::Type;

  static_assert(blocks_m * 16 * config.warps.m == config.tile.m, "a warp's M is a multiple of 16");
  static_assert(blocks_n * 16 * config.warps.n == config.tile.n, "a warp's N is a multiple of 16");
  static_assert(k_steps * step_k * config.warps.k == config.tile.k, "a warp's K is a multiple of a step");
  static_assert(config.stages >= 2, "one stage is read while another is filled");
};

/// Which part of the block's tile a warp multiplies.
struct WarpPlace {
  int m;
  int n;
  int k;
};

template <Config config>
QUARRY_DEVICE WarpPlace warp_place() {
  const int warp = arch::warp_index();
  return {warp % config.warps.m, warp / config.warps.m % config.warps.n,
          warp / (config.warps.m * config.warps.n)};
}

/// The sums of one warp.
template <Config config>
struct Sums {
  typename Shape<config>::Multiply::Sum block[Shape<config>::blocks_m][2 * Shape<config>::blocks_n] = {};

  /// Neighbours along N: of block row m, pair i / 2 in columns, of its upper (i even) or lower eight rows.
  QUARRY_DEVICE auto pair(int m, int i) const { return arch::row_pair(block[m][i / 2], i % 2); }
};

/// The operands of one step of a warp, as they were read.
template <Config config>
struct Fragments {
  typename Shape<config>::ReaderA::Part a[Shape<config>::blocks_m][Shape<config>::parts];
  typename Shape<config>::ReaderB::Part b[Shape<config>::blocks_n][Shape<config>::parts];
};

/// How a warp reads its part of a stage.
template <Config config>
class WarpReader {
  using S = Shape<config>;

 public:
  QUARRY_DEVICE explicit WarpReader(const WarpPlace& place)
      : a_(place.m * S::warp.m, place.k * S::warp.k), b_(place.n * S::warp.n, place.k * S::warp.k) {}

  /// The operands of one step.
  QUARRY_DEVICE void load(Fragments<config>& fragments, arch::SharedAddress stage, int k_step) const {
    QUARRY_UNROLL
    for (int part = 0; part < S::parts; ++part) {
      const int step = k_step * S::parts + part;
      QUARRY_UNROLL
      for (int i = 0; i < S::blocks_m; ++i) fragments.a[i][part] = a_.load(stage, step, i);
      QUARRY_UNROLL
      for (int i = 0; i < S::blocks_n; ++i) fragments.b[i][part] = b_.load(stage + S::a.bytes(), step, i);
    }
  }

 private:
  typename S::ReaderA a_;
  typename S::ReaderB b_;
};

/// Both operands of a block on their way into the pipeline: the last K tile first, then the others in order.
template <Config config, class SourceA, class SourceB>
class StageCopier {
  using S = Shape<config>;

 public:
  QUARRY_DEVICE StageCopier(const SourceA& a, const SourceB& b, int k_tiles)
      : a_(a), b_(b), tiles_left_(k_tiles - 1) {}

  /// Copies the last K tile, as one group.
  QUARRY_DEVICE void copy_last(arch::SharedAddress stage) {
    a_.copy_last(stage);
    b_.copy_last(stage + S::a.bytes());
    arch::copy_async_commit();
  }

  /// Starts one of `k_steps` parts of the copies of the next K tile; zeros when there is none.
  QUARRY_DEVICE void start(arch::SharedAddress stage, int part) {
    a_.start(stage, part, S::k_steps);
    b_.start(stage + S::a.bytes(), part, S::k_steps);
  }

  /// Ends the copies of a K tile, as one group.
  QUARRY_DEVICE void finish(arch::SharedAddress stage) {
    --tiles_left_;
    a_.finish(stage, tiles_left_ > 0);
    b_.finish(stage + S::a.bytes(), tiles_left_ > 0);
    arch::copy_async_commit();
  }

 private:
  SourceA a_;
  SourceB b_;
  int tiles_left_;
};

/// The same as the instruction takes them.
template <Config config>
struct Operands {
  typename Shape<config>::Multiply::A a[Shape<config>::blocks_m];
  typename Shape<config>::Multiply::B b[2 * Shape<config>::blocks_n];
};

template <Config config>
QUARRY_DEVICE void convert(const Fragments<config>& fragments, Operands<config>& operands) {
  using S = Shape<config>;
  QUARRY_UNROLL
  for (int m = 0; m < S::blocks_m; ++m) operands.a[m] = S::Multiply::a(fragments.a[m]);
  QUARRY_UNROLL
  for (int n = 0; n < 2 * S::blocks_n; ++n) operands.b[n] = S::Multiply::b(fragments.b[n / 2], n % 2);
}

/// sums += a b for one step; neighbouring instructions share an operand. The fragments of the next step take
/// the operands' places, each where its last product is under way: so conversions run beside products.
template <Config config>
QUARRY_DEVICE void multiply(Sums<config>& sums, Operands<config>& operands, const Fragments<config>& next) {
  using S = Shape<config>;
  constexpr int last_n = 2 * S::blocks_n - 1;
  QUARRY_UNROLL
  for (int n = 0; n <= last_n; ++n) {
    QUARRY_UNROLL
    for (int i = 0; i < S::blocks_m; ++i) {
      const int m = n % 2 == 0 ? i : S::blocks_m - 1 - i;
      S::Multiply::add(sums.block[m][n], operands.a[m], operands.b[n]);
      if (n == last_n) operands.a[m] = S::Multiply::a(next.a[m]);
    }
    operands.b[n] = S::Multiply::b(next.b[n / 2], n % 2);
  }
}

/// Adds up the products of `k_tiles` K tiles of two operand sources (common/operand_copy.cuh).
///
/// Stages form a ring. While the tile in one is multiplied, the tile stages - 1 ahead is copied into the one
/// that was read last. Registers are a second, shorter pipeline: the fragments of a step are loaded while the
/// step before it is multiplied, across the border between stages too, so one barrier a tile is enough:
/// behind it, the next stage has landed for all threads and all have read what they need from the current
/// one.
///
/// The last K tile comes first, then the others in order. Calls `multiplied(k_tile)`, counted from the first
/// one of this piece of work, when a tile's products are added.
template <Config config, class SourceA, class SourceB, class Multiplied>
QUARRY_DEVICE void mainloop(const WarpReader<config>& reader, const SourceA& source_a,
                            const SourceB& source_b, int k_tiles, Sums<config>& sums,
                            const Multiplied& multiplied) {
  using S = Shape<config>;
  const arch::SharedAddress first_stage = arch::shared_memory();
  const arch::SharedAddress last_stage = first_stage + (config.stages - 1) * S::stage_bytes;
  const auto next = [=](arch::SharedAddress stage) {
    return stage == last_stage ? first_stage : stage + S::stage_bytes;
  };

  StageCopier<config, SourceA, SourceB> copier(source_a, source_b, k_tiles);
  copier.copy_last(first_stage);
  arch::SharedAddress filled = next(first_stage);
  QUARRY_ROLLED
  for (;;) {
    copier.start(filled, 0);
    if (filled == last_stage) break;  // the main loop goes on with the other parts
    QUARRY_UNROLL
    for (int part = 1; part < S::k_steps; ++part) copier.start(filled, part);
    copier.finish(filled);
    filled = next(filled);
  }
  arch::copy_async_wait<config.stages - 2>();
  arch::block_barrier();

  arch::SharedAddress read = first_stage;
  Fragments<config> fragments;
  Operands<config> operands;
  reader.load(fragments, read, 0);
  convert<config>(fragments, operands);

  QUARRY_ROLLED
  for (int tile = 0; tile < k_tiles; ++tile) {
    QUARRY_UNROLL
    for (int step = 0; step < S::k_steps; ++step) {
      const int next_step = (step + 1) % S::k_steps;
      if (next_step == 0) {
        copier.finish(filled);
        arch::copy_async_wait<config.stages - 2>();
        arch::block_barrier();
        filled = next(filled);
        read = next(read);
      }
      reader.load(fragments, read, next_step);
      copier.start(filled, next_step);
      multiply<config>(sums, operands, fragments);
    }
    multiplied(tile == 0 ? k_tiles - 1 : tile - 1);
  }
  arch::copy_async_commit();  // the first copies of one more tile of zeros are under way, in no group yet
  arch::copy_async_wait<0>();
  arch::block_barrier();  // the epilogue uses the stages' memory for something else
}

/// The same without calls.
template <Config config, class SourceA, class SourceB>
QUARRY_DEVICE void mainloop(const WarpReader<config>& reader, const SourceA& source_a,
                            const SourceB& source_b, int k_tiles, Sums<config>& sums) {
  mainloop<config>(reader, source_a, source_b, k_tiles, sums, [](int) {});
}

}  // namespace quarry::gemm_sm80
