/// What entries with an expression include beside kernel.cuh.
///
/// From the sums of a tile to the output by an expression that is compiled in: each warp evaluates its own
/// values where they lie, a few columns at a time, puts what becomes the output into boxes, and lets the bulk
/// copy engine, or where that cannot, the lanes, store them. Other tensors are read and written by the lanes,
/// element by element or in pairs.
#pragma once

#include "arch/sm90.hpp"
#include "common/expression_epilogue.cuh"
#include "gemm_sm90/expression_sums.cuh"
#include "gemm_sm90/expression_vectors.cuh"
#include "gemm_sm90/tile_store_unrolled.cuh"
#include "gemm_sm90/wide_store.cuh"
#include "gemm_sm90/work_matrices.cuh"

namespace quarry::gemm_sm90 {

template <Config config, class Code, class Work>
class ExpressionStore {
  using Matrices = MatricesOf<Work>;
  static constexpr OutputBox box = box_out(config);
  static constexpr int block_boxes = config.tile.n / box.columns;
  static constexpr int boxes = blocks_m(config) * block_boxes;
  /// Where problems have neighbours, what tells them apart takes the registers of more columns.
  static constexpr int columns =
      Work::has_neighbours ? expression_columns<config> : light_expression_columns<config, Code>;
  static constexpr int box_steps = box.columns / columns;
  static constexpr int count = columns / 2;
  static constexpr int pairs = count / 2;
  using Out = Element<config.types.out>;
  using Sum = SumType<config>;
  using Value = ValueType<config>;
  using Pair = arch::Vector<Sum, 2>;
  using Tensors = typename Code::template Tensors<false>;
  using Vectors = ExpressionVectors<config, Code>;

 public:
  /// @param group the warpgroup among those that multiply. @param first_row row of the tile where its rows
  /// begin
  QUARRY_DEVICE ExpressionStore(const TensorGemmParams& params, arch::SharedAddress memory, int group,
                                int first_row)
      : params_(params),
        memory_(memory),
        ring_(params, memory, group * 4 + warp_of_group()),
        vectors_(memory),
        first_row_(first_row + warp_of_group() * OutputBox::rows) {}

  /// Leaves out a tile, which another warpgroup stores.
  QUARRY_DEVICE void skip() { vectors_.advance(); }
  /// Gets the map ready by which the engine will store a tile.
  QUARRY_DEVICE void start([[maybe_unused]] const Work& work) {
    if constexpr (Matrices::are_own) maps_.acquire(work);
  }
  QUARRY_DEVICE static constexpr int stages() { return 0; }

  /// Stores a tile's sums. With split_k_cluster these lie in shared memory instead (leave_sums), and the
  /// blocks of the cluster share the boxes.
  QUARRY_DEVICE void store(const FinishedSums<config>& sums, const Work& work, unsigned /*stages_done*/,
                           const ClusterPlace& /*place*/) {
    const Tensors tensors(expression_of<Code>(params_), tensor_entry(work));
    if constexpr (Vectors::any) vectors_.wait();
    const int turns = shares() ? arch::cluster_blocks() : 1;
    QUARRY_ROLLED
    for (int index = shares() ? arch::cluster_rank() : 0; index < boxes; index += turns) {
      if constexpr (Work::has_neighbours) {
        if (rows_left(work, index) <= 0) break;  // boxes behind it have no rows, too
      }
      const arch::SharedAddress buffer = ring_.acquire();
      QUARRY_ROLLED
      for (int i = 0; i < box_steps; ++i) {
        StepValues<count, Sum> x = {};
        take_step(x, sums, index * box_steps + i);
        const StepValues<count, Value> values = evaluate(tensors, x, work, index, i);
        put_values<box, Out>(buffer, i * columns, arch::lane_index(), values);
      }
      if (stores_box(work, index)) {
        leave_box(work, index);
      } else {
        const int row = first_row_ + index / block_boxes * instruction_m;
        const int column = index % block_boxes * box.columns;
        if constexpr (Matrices::are_own) {
          write_box<config>(buffer, work, row, column, Matrices::out(params_, work));
        } else {
          write_box<config>(buffer, work, row, column, params_.gemm.out);
        }
        if constexpr (Work::has_neighbours || Matrices::are_own) {
          ring_.pass();
        } else {
          ring_.advance();
        }
      }
    }
    if constexpr (Vectors::any) vectors_.release();
    vectors_.advance();
  }

  /// Waits until shared memory is not read any more.
  QUARRY_DEVICE void finish() const { ring_.template wait_read<0>(); }

 private:
  /// Whether blocks of a cluster have left their sums in shared memory.
  QUARRY_DEVICE bool shares() const {
    return adds_up_in_cluster(config) && params_.gemm.mode == Mode::split_k_cluster;
  }

  QUARRY_DEVICE void take_step(StepValues<count, Sum>& x, const FinishedSums<config>& sums, int step) const {
    if constexpr (adds_up_in_cluster(config)) {
      if (shares()) return add_cluster_step<config>(x, Sum{1}, memory_, step);
    }
    take_sums<config, config.tile.n, 0, 0, boxes * box_steps>(x, sums, step);
  }

  /// Row and column of a box in the problem.
  QUARRY_DEVICE int box_row(const Work& work, int index) const {
    return work.tile_m * config.tile.m + first_row_ + index / block_boxes * instruction_m;
  }
  QUARRY_DEVICE static int box_column(const Work& work, int index) {
    return work.tile_n * config.tile.n + index % block_boxes * box.columns;
  }
  /// Rows of the problem from a box's first row on; 0 or less: none.
  QUARRY_DEVICE int rows_left(const Work& work, int index) const { return work.m() - box_row(work, index); }
  /// Whether the engine stores a box; else the lanes do. It would write rows of other problems, too.
  QUARRY_DEVICE bool stores_box(const Work& work, int index) const {
    if constexpr (Matrices::are_own) {
      return work.by_boxes;
    } else {
      if constexpr (Work::has_neighbours) {
        if (rows_left(work, index) < OutputBox::rows) return false;
      }
      return params_.stores_boxes;
    }
  }
  /// Hands a box to the engine.
  QUARRY_DEVICE void leave_box(const Work& work, int index) {
    if constexpr (Matrices::are_own) {
      ring_.store(box_at(work, index), Matrices::out_map(work));
    } else {
      ring_.store(box_at(work, index));
    }
  }
  QUARRY_DEVICE BoxAt box_at(const Work& work, int index) const {
    const OperandBase base = work.out();
    return {base.row + box_row(work, index), base.column + box_column(work, index),
            Matrices::are_own ? 0 : base.batch};
  }

  /// Neighbouring columns of the same row that a lane has of a step: the first one's place in the step's 16
  /// rows and columns.
  QUARRY_DEVICE static int pair_row(int pair) { return arch::lane_index() / 4 + pair % 2 * 8; }
  QUARRY_DEVICE static int pair_column(int pair) { return arch::lane_index() % 4 * 2 + pair / 2 * 8; }

  /// The outputs of a step. What it reads is asked for at once; what it writes beside the output is stored.
  QUARRY_DEVICE StepValues<count, Value> evaluate(const Tensors& tensors, const StepValues<count, Sum>& x,
                                                  const Work& work, int index, int step) const {
    const int row = box_row(work, index);
    const int column = box_column(work, index) + step * columns;
    const OperandBase base = work.out();
    typename Tensors::template Held<2> held[pairs];
    const auto each = [&](const auto& use) {
      QUARRY_UNROLL
      for (int i = 0; i < pairs; ++i) {
        const int left = work.n() - column - pair_column(i);
        if (row + pair_row(i) < work.m() && left > 0)
          use(i, base.row + row + pair_row(i), base.column + column + pair_column(i), left < 2 ? left : 2);
      }
    };
    each([&](int i, int at_row, int at_column, int left) {
      tensors.template load<2, Vectors::places.inputs>(held[i], at_row, at_column, left);
    });
    const int tile_row = first_row_ + index / block_boxes * instruction_m;
    const int tile_column = index % block_boxes * box.columns + step * columns;
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) {
      Vectors::read(vectors_, expression_of<Code>(params_), tile_row + pair_row(i),
                    tile_column + pair_column(i), held[i]);
    }
    StepValues<count, Value> values;
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) {
      const auto outputs = Tensors::template compute<Value, 2>(held[i], Pair{x.v[2 * i], x.v[2 * i + 1]});
      values.v[2 * i] = outputs.v[0];
      values.v[2 * i + 1] = outputs.v[1];
    }
    each([&](int i, int at_row, int at_column, int left) {
      tensors.template store<2>(held[i], at_row, at_column, left);
    });
    return values;
  }

  const TensorGemmParams& params_;
  arch::SharedAddress memory_;
  BoxRing<config> ring_;
  BiasRing<config> vectors_;
  int first_row_;  ///< of the warp in its tile
  OwnMaps<Work> maps_;
};

/// What stores tiles by an expression; also by expressions with gated pairs or reductions is another.
template <Config config, class Code, class Work, bool is_wide>
struct ExpressionStoreOf {
  using Type = ExpressionStore<config, Code, Work>;
};
template <Config config, class Code, class Work>
struct ExpressionStoreOf<config, Code, Work, true> {
  using Type = WideStore<config, Code, Work>;
};
template <class Code>
constexpr bool has_wide_code() {
  return requires { Code::is_gated; };
}

/// Whether vectors are loaded ahead of the sums.
template <class Code>
constexpr bool loads_vectors_ahead() {
  if constexpr (has_wide_code<Code>()) {
    return reads_vectors_ahead<Code>;
  } else {
    return true;
  }
}

template <Config config, class Epilogue>
requires(Epilogue::is_expression&& loads_vectors_ahead<Epilogue>()) struct VectorsOf<config, Epilogue> {
  using Type = ExpressionVectors<config, Epilogue>;
};

template <Config config, class Epilogue, class Work>
requires Epilogue::is_expression struct TileStoreOf<config, Epilogue, Work> {
  using Type = typename ExpressionStoreOf<config, Epilogue, Work, has_wide_code<Epilogue>()>::Type;
};

/// The code of an expression behind parameters with scales. @tparam Whole all of them
template <class Code, class Whole>
struct ScaledCode : Code {
  template <class>
  using Parameters = Whole;
};

/// The kernel of operands with scales; with gated pairs or reductions, in both steps.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithExpression<ScaledTensorGemmParams>& params) {
  run<config, ScaledCode<Code, WithExpression<ScaledTensorGemmParams>>>(params.tensor, &params.scales);
}
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<ScaledTensorGemmParams>& params) {
  if (params.reductions.is_finish) {
    finish_reductions<Code>(params, params.tensor.gemm, threads(config));
  } else {
    using Scaled = ScaledCode<Code, WithReductions<ScaledTensorGemmParams>>;
    run<config, Scaled, MatrixSources<config, has_halves<Code>()>>(params.tensor, &params.scales);
  }
}

}  // namespace quarry::gemm_sm90
