/// Scales of A and B: a warp of those that copy brings them to shared memory ahead of the sums; those that
/// multiply read them there, and multiply sums in registers. The epilogue knows nothing of them.
#pragma once

#include "gemm/scale_view.cuh"
#include "gemm_sm90/bias.cuh"
#include "gemm_sm90/thread_producer.cuh"
#include "gemm_sm90/work_matrices.cuh"
#include "gemm_sm90/zero_params.hpp"

namespace quarry::gemm_sm90 {

/// Scales by vectors that wait in shared memory.
template <Config config>
using ScaleRing =
    VectorRing<RingPlace{.at = scales_offset(config),
                         .bytes = scale_bytes(config),
                         .barriers = scales_offset(config) + scale_sets(config) * scale_bytes(config),
                         .sets = scale_sets(config),
                         .writers = 32,
                         .readers = bias_readers<config>()}>;

/// The scales of a tile's rows, then of its columns, from global memory.
/// @tparam halves the tile's columns are gated pairs: half of them, and their partners half of all columns
/// further on
template <Config config, class Work, bool halves = false>
class ScaleSource {
 public:
  QUARRY_DEVICE ScaleSource(const GemmScaleParams& params, const Work& work)
      : a_(params.a, MatricesOf<Work>::a_scales(work)),
        b_(params.b, MatricesOf<Work>::b_scales(work)),
        work_(work) {}

  static constexpr int count = config.tile.m + config.tile.n;

  /// Where number `i` lies, for a block of 128 of K; null where it is 1. @tparam columns that share a scale
  template <int columns = 1>
  QUARRY_DEVICE const float* place(int i, int block) const {
    if (i < config.tile.m) {
      const int base = work_.a().row;
      return a_.place(base + work_.tile_m * config.tile.m + i, base + work_.m(), block);
    }
    const int base = work_.b().column;
    const int column = (i - config.tile.m) * columns;
    return b_.place(base + column_of(column), base + work_.n(), block);
  }

 private:
  /// The problem's column of a column of the tile.
  QUARRY_DEVICE int column_of(int column) const {
    if constexpr (halves) {
      constexpr int half = config.tile.n / 2;
      return work_.tile_n * half + (column < half ? column : work_.n() / 2 + column - half);
    } else {
      return work_.tile_n * config.tile.n + column;
    }
  }

  ScaleView a_;
  ScaleView b_;
  const Work& work_;
};

/// Neighbouring columns of a tile that always lie in one block of 128: the tile begins at a multiple of its
/// columns.
constexpr int strip_columns(const Config& c) {
  int columns = scale_block;
  while (c.tile.n % columns != 0) columns /= 2;
  return columns;
}
constexpr int strips(const Config& c) { return c.tile.n / strip_columns(c); }

/// Whether the columns of each strip of a tile share their scale, for each block of K: with blocks of
/// 128 x 128, above all.
QUARRY_DEVICE bool strips_share_scale(const GemmScaleParams& params) {
  const ScaleParams& b = params.b;
  return b.lines_log2 > 0 || b.values.row_stride == 0 || b.values.data == nullptr;
}

/// Loads the vectors of all tiles of the block; by one warp.
template <Config config, class Params>
QUARRY_DEVICE void produce_vector_scales(const Params& gemm, const GemmScaleParams& params,
                                         arch::SharedAddress memory, const ClusterPlace& place) {
  ScaleRing<config> ring(memory);
  QUARRY_ROLLED
  for (typename WorkListOf<config, Params>::Type list(gemm, place); list.has_more(); list.advance()) {
    const WorkOfParams<config, Params> work = list.current();
    const ScaleSource<config, WorkOfParams<config, Params>> source(params, work);
    ring.acquire();
    QUARRY_ROLLED
    for (int i = arch::lane_index(); i < source.count; i += 32) {
      const float* const from = source.place(i, 0);
      arch::shared_store(ring.at(i), from == nullptr ? 1.0F : arch::global_load<float>(from));
    }
    ring.commit();
    ring.advance();
  }
}

/// Where the scales of a tile that a lane copies lie, for the next block of K: numbers lane, lane + 32, ...
/// of the tile's rows, then of its columns, or of its strips of columns. They are found once a tile, and go
/// from block to block by a stride each.
template <Config config, bool by_column, bool halves, class Work>
class ScaleWalk {
 public:
  QUARRY_DEVICE ScaleWalk(const GemmScaleParams& params, const Work& work, int block)
      : stride_a_(params.a.values.column_stride), stride_b_(params.b.values.column_stride) {
    const ScaleSource<config, Work, halves> source(params, work);
    QUARRY_UNROLL
    for (int i = 0; i < places; ++i)
      from_[i] = exists(i) ? source.template place<sharers>(number(i), block) : nullptr;
  }

  /// Starts the copies of a block to a stage's set, and arrives at the barrier when they have landed.
  QUARRY_DEVICE void copy(arch::SharedAddress to, arch::SharedAddress full) const {
    bool copies_all = true;
    QUARRY_UNROLL
    for (int i = 0; i < places; ++i) {
      if (!exists(i)) continue;
      if (from_[i] == nullptr) {
        arch::shared_store(to + 4 * number(i), 1.0F);
        copies_all = false;
      } else {
        arch::copy_async<4>(to + 4 * number(i), from_[i], 4);
      }
    }
    if (copies_all) {
      arch::mbarrier_arrive_copied(full);
    } else {  // which says nothing of what was stored
      arch::copy_async_commit();
      arch::copy_async_wait<0>();
      arch::mbarrier_arrive(full);
    }
  }

  QUARRY_DEVICE void advance() {
    QUARRY_UNROLL
    for (int i = 0; i < places; ++i) {
      if (from_[i] != nullptr) from_[i] += i < rows ? stride_a_ : stride_b_;
    }
  }

 private:
  static_assert(config.tile.m % 32 == 0, "a lane's turns at rows are whole");
  static constexpr int rows = config.tile.m / 32;
  static constexpr int sharers = by_column ? 1 : strip_columns(config);
  static constexpr int columns = config.tile.n / sharers;
  static constexpr int places = rows + (columns + 31) / 32;

  /// Of turn `i` in the set.
  QUARRY_DEVICE static int number(int i) { return 32 * i + arch::lane_index(); }
  QUARRY_DEVICE static bool exists(int i) {
    return 32 * (i + 1) <= config.tile.m + columns || number(i) < config.tile.m + columns;
  }

  const float* from_[places];
  long long stride_a_;
  long long stride_b_;
};

/// Copies the scales of all stages of the block, into the stages' sets; by one warp.
template <Config config, bool by_column, bool halves, class Params>
QUARRY_DEVICE void copy_block_scales(const Params& gemm, const GemmScaleParams& params,
                                     arch::SharedAddress memory, const ClusterPlace& place) {
  constexpr int block_tiles = block_k_tiles(config);
  Pipeline<config> pipeline(memory);
  QUARRY_ROLLED
  for (typename WorkListOf<config, Params>::Type list(gemm, place); list.has_more(); list.advance()) {
    const WorkOfParams<config, Params> work = list.current();
    ScaleWalk<config, by_column, halves, WorkOfParams<config, Params>> walk(params, work,
                                                                            work.first_k_tile / block_tiles);
    QUARRY_ROLLED
    for (int tile = work.first_k_tile; tile < work.first_k_tile + work.k_tiles; ++tile) {
      pipeline.acquire();
      walk.copy(pipeline.scales(), pipeline.full());
      pipeline.advance();
      if ((tile + 1) % block_tiles == 0) walk.advance();
    }
  }
}

/// @tparam halves of gated pairs that lie in halves: a strip may then end within half a tile, and in the
/// other half begin in the middle of a block, so that each column has a scale of its own
template <Config config, bool halves, class Params>
QUARRY_DEVICE void produce_block_scales(const Params& gemm, const GemmScaleParams& params,
                                        arch::SharedAddress memory, const ClusterPlace& place) {
  if (!halves && strips_share_scale(params)) {
    copy_block_scales<config, false, false>(gemm, params, memory, place);
  } else {
    copy_block_scales<config, true, halves>(gemm, params, memory, place);
  }
}

/// Reads the scales of a lane's two rows of each block of 64. @param scales of the tile's rows, then of its
/// columns @param first_row of the warpgroup in its tile
template <Config config>
QUARRY_DEVICE void read_row_scales(arch::SharedAddress scales, int first_row,
                                   float (&rows)[blocks_m(config)][2]) {
  const int row = first_row + warp_of_group() * 16 + arch::lane_index() / 4;
  QUARRY_UNROLL
  for (int block = 0; block < blocks_m(config); ++block) {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half)
      rows[block][half] = arch::shared_load<float>(scales + 4 * (row + block * instruction_m + half * 8));
  }
}

/// Those of its two columns of eight.
template <Config config>
QUARRY_DEVICE arch::Vector<float, 2> column_scales(arch::SharedAddress scales, int group) {
  const int column = config.tile.m + group * 8 + arch::lane_index() % 4 * 2;
  return arch::shared_load<arch::Vector<float, 2>>(scales + 4 * column);
}

/// Whether the sums leave registers for the scales of all columns while products are under way. Else they are
/// read when their turn comes, and the stage is held until then.
constexpr bool keeps_column_scales(const Config& c) { return sum_registers(c) <= 128; }

/// The scales of a lane's sums. @tparam by_column they differ by columns; else by strips of columns
template <Config config, bool by_column>
class LaneScales;

template <Config config>
class LaneScales<config, true> {
 public:
  QUARRY_DEVICE LaneScales(arch::SharedAddress scales, int first_row) : scales_(scales) {
    read_row_scales<config>(scales, first_row, row_);
    if constexpr (is_read) {
      QUARRY_UNROLL
      for (int group = 0; group < config.tile.n / 8; ++group)
        columns_[group] = column_scales<config>(scales, group);
    }
  }

  /// Whether nothing is left to be read.
  static constexpr bool is_read = keeps_column_scales(config);

  /// Of eight columns.
  struct Group {
    const LaneScales& lane;
    arch::Vector<float, 2> columns;

    /// Of column `i` of the lane's two.
    QUARRY_DEVICE float of(int block, int half, int i) const { return lane.row_[block][half] * columns.v[i]; }
  };
  QUARRY_DEVICE Group of_group(int group) const {
    if constexpr (is_read) return {*this, columns_[group]};
    return {*this, column_scales<config>(scales_, group)};
  }

 private:
  arch::SharedAddress scales_;
  float row_[blocks_m(config)][2];
  arch::Vector<float, 2> columns_[is_read ? config.tile.n / 8 : 1];
};

/// As they lie in shared memory, where strips share them.
template <Config config>
class StripScales {
 public:
  /// @param first_row of the warpgroup in its tile
  QUARRY_DEVICE void read(arch::SharedAddress scales, int first_row) {
    read_row_scales<config>(scales, first_row, row_);
    QUARRY_UNROLL
    for (int strip = 0; strip < strips(config); ++strip)
      strip_[strip] = arch::shared_load<float>(scales + 4 * (config.tile.m + strip));
  }

  QUARRY_DEVICE LaneScales<config, false> products() const { return {row_, strip_}; }

 private:
  float row_[blocks_m(config)][2];
  float strip_[strips(config)];
};

template <Config config>
class LaneScales<config, false> {
 public:
  QUARRY_DEVICE LaneScales(arch::SharedAddress scales, int first_row) {
    StripScales<config> read;
    read.read(scales, first_row);
    *this = read.products();
  }
  QUARRY_DEVICE LaneScales(const float (&rows)[blocks_m(config)][2], const float (&shared)[strips(config)]) {
    QUARRY_UNROLL
    for (int strip = 0; strip < strips(config); ++strip) {
      QUARRY_UNROLL
      for (int block = 0; block < blocks_m(config); ++block) {
        QUARRY_UNROLL
        for (int half = 0; half < 2; ++half) scales_[strip][block][half] = rows[block][half] * shared[strip];
      }
    }
  }

  static constexpr bool is_read = true;

  struct Group {
    const float (&scales)[blocks_m(config)][2];

    QUARRY_DEVICE float of(int block, int half, int /*i*/) const { return scales[block][half]; }
  };
  QUARRY_DEVICE Group of_group(int group) const { return {scales_[8 * group / strip_columns(config)]}; }

 private:
  float scales_[strips(config)][blocks_m(config)][2];
};

/// Calls `each(block, half, i, sum)` for the sums of a lane in eight columns, i the number of their place.
template <int blocks, class AnySums, class Each>
QUARRY_DEVICE void for_each_sum(const AnySums& sums, int group, const Each& each) {
  QUARRY_UNROLL
  for (int block = 0; block < blocks; ++block) {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) {
      const auto pair = sum_pair(sums.block[block], group, half);
      QUARRY_UNROLL
      for (int i = 0; i < 2; ++i) each(block, half, i, static_cast<float>(pair.v[i]));
    }
  }
}

/// What a warpgroup knows of the scales of its tiles: its walk over vectors; of blocks, which ones there are.
template <Config config, ScaleSupport scales = config.scales>
class TileScales {
 public:
  QUARRY_DEVICE TileScales(const GemmScaleParams* /*params*/, arch::SharedAddress /*memory*/) {}
  QUARRY_DEVICE void skip() const {}
};
template <Config config>
class TileScales<config, ScaleSupport::block_scales> {
 public:
  QUARRY_DEVICE TileScales(const GemmScaleParams* params, arch::SharedAddress /*memory*/)
      : params_(*params) {}
  QUARRY_DEVICE void skip() const {}

  QUARRY_DEVICE bool strips_share() const { return strips_share_scale(params_); }

 private:
  const GemmScaleParams& params_;
};
template <Config config>
class TileScales<config, ScaleSupport::group_scales> {
 public:
  QUARRY_DEVICE TileScales(const GemmScaleParams* params, arch::SharedAddress /*memory*/)
      : params_(*params) {}
  QUARRY_DEVICE void skip() const {}

  QUARRY_DEVICE const GemmScaleParams& params() const { return params_; }

 private:
  const GemmScaleParams& params_;
};
template <Config config>
class TileScales<config, ScaleSupport::zero_points> {
 public:
  /// @param params of a ZeroTensorGemmParams
  QUARRY_DEVICE TileScales(const GemmScaleParams* params, arch::SharedAddress /*memory*/)
      : params_(*static_cast<const ZeroedScaleParams*>(params)) {}
  QUARRY_DEVICE void skip() const {}

  QUARRY_DEVICE const ZeroedScaleParams& params() const { return params_; }

 private:
  const ZeroedScaleParams& params_;
};
template <Config config>
class TileScales<config, ScaleSupport::vector_scales> {
 public:
  QUARRY_DEVICE TileScales(const GemmScaleParams* /*params*/, arch::SharedAddress memory) : ring_(memory) {}

  /// Leaves out a tile, which another warpgroup multiplies.
  QUARRY_DEVICE void skip() { ring_.advance(); }

  /// Multiplies the sums of a tile, which may be the finished ones. Columns are read when their turn comes:
  /// sums fill the registers. @param first_row of the warpgroup in the tile
  template <class AnySums>
  QUARRY_DEVICE void scale(FinishedSums<config>& finished, const AnySums& sums, int first_row) {
    ring_.wait();
    const arch::SharedAddress scales = ring_.at(0);
    float rows[blocks_m(config)][2];
    read_row_scales<config>(scales, first_row, rows);
    QUARRY_UNROLL
    for (int group = 0; group < config.tile.n / 8; ++group) {
      const arch::Vector<float, 2> columns = column_scales<config>(scales, group);
      for_each_sum<blocks_m(config)>(sums, group, [&](int block, int half, int i, float sum) {
        finished.block[block].v[4 * group + 2 * half + i] = rows[block][half] * columns.v[i] * sum;
      });
    }
    ring_.release();
    ring_.advance();
  }

 private:
  ScaleRing<config> ring_;
};

}  // namespace quarry::gemm_sm90
