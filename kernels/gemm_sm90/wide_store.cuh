/// From the sums of a tile to the output by an expression with gated pairs or reductions, as ExpressionStore
/// does. The sums of a pair lie in the same lane: half a tile or eight columns apart. Four lanes have a row:
/// before its values are computed, they reduce each group of columns. What else is reduced of a warp's rows
/// leaves for the workspace, from where a second step of the launch adds it up.
#pragma once

#include "common/wide_epilogue.cuh"
#include "gemm_sm90/expression_sums.cuh"
#include "gemm_sm90/expression_vectors.cuh"
#include "gemm_sm90/kernel.cuh"
#include "gemm_sm90/work_matrices.cuh"

namespace quarry::gemm_sm90 {

/// Work whose output has half the columns.
template <class Work>
struct HalfWork : Work {
  QUARRY_DEVICE int n() const { return Work::n() / 2; }
};

/// Whether vectors are loaded ahead of the sums: for groups, whose values are computed twice.
template <class Code>
constexpr bool reads_vectors_ahead = Code::Values::group_count > 0 && !Code::is_gated;

template <Config config, class Code, class Work>
class WideStore {
  using Matrices = MatricesOf<Work>;
  static constexpr bool gated = Code::is_gated;
  static constexpr OutputBox box = box_out(config);
  static constexpr int tile_columns = gated ? config.tile.n / 2 : config.tile.n;
  static constexpr int block_boxes = tile_columns / box.columns;
  static constexpr int boxes = blocks_m(config) * block_boxes;
  static constexpr int columns = expression_columns<config>;
  static constexpr int box_steps = box.columns / columns;
  static constexpr int count = columns / 2;
  static constexpr int pairs = count / 2;
  static_assert(tile_columns % box.columns == 0, "boxes are of one half");
  /// Columns of a group, and the steps that have them.
  static constexpr int group_columns = 128;
  static constexpr int group_steps = group_columns / columns;
  using Out = Element<config.types.out>;
  using Sum = SumType<config>;
  using Value = ValueType<config>;
  using Pair = arch::Vector<Sum, 2>;
  using Step = StepValues<count, Sum>;
  using Tensors = typename Code::template Tensors<false>;
  using Held = typename Tensors::template Held<2>;
  using Values = typename Code::Values;
  using Lines = typename Values::Lines;
  using Groups = typename Values::Groups;
  static constexpr bool has_groups = Values::group_count > 0;
  static_assert(!has_groups || tile_columns % group_columns == 0, "groups are of one tile");
  using Vectors = ExpressionVectors<config, Code>;
  static constexpr bool has_vectors = reads_vectors_ahead<Code> && Vectors::any;
  using Lane = WideLane<Code, Held, Sum, Value, 2>;

  /// The sums of a step, and their partners in the other half.
  struct Part {
    Step sums = {};
    Step partners = {};
  };
  /// What the tensors have for a step: for the lane's pairs of columns, of which some may not exist.
  struct Operands {
    Held held[pairs];
    int counts[pairs];
  };

 public:
  /// As ExpressionStore's.
  QUARRY_DEVICE WideStore(const TensorGemmParams& params, arch::SharedAddress memory, int group,
                          int first_row)
      : params_(params),
        expression_(expression_of<Code>(params)),
        reductions_(whole_of<Code>(params).reductions),
        ring_(params, memory, group * 4 + warp_of_group()),
        vectors_(memory),
        warp_(first_row / OutputBox::rows / blocks_m(config) + warp_of_group()),
        first_row_(first_row + warp_of_group() * OutputBox::rows) {}

  /// Leaves out a tile, which another warpgroup stores.
  QUARRY_DEVICE void skip() {
    if constexpr (has_vectors) vectors_.advance();
  }
  QUARRY_DEVICE void start([[maybe_unused]] const Work& work) {
    if constexpr (Matrices::are_own) maps_.acquire(work);
  }
  QUARRY_DEVICE static constexpr int stages() { return 0; }

  /// Stores a tile's sums.
  QUARRY_DEVICE void store(const FinishedSums<config>& sums, const Work& work, unsigned /*stages_done*/,
                           const ClusterPlace& /*place*/) {
    const Tensors tensors(expression_, tensor_entry(work));
    if constexpr (has_vectors) vectors_.wait();
    Lines all;
    Values::each_all(all, all, reductions::Start());
    Lines rows[2];
    Groups groups[2];  // of the two rows, too
    QUARRY_ROLLED
    for (int index = 0; index < boxes; ++index) {
      if (index % block_boxes == 0) {
        QUARRY_UNROLL
        for (int half = 0; half < 2; ++half) Values::each_row(rows[half], rows[half], reductions::Start());
      }
      if constexpr (Work::has_neighbours) {
        if (work.m() - box_row(work, index) <= 0) break;  // boxes behind it have no rows, too
      }
      if constexpr (has_groups) {
        if (index * box.columns % group_columns == 0) reduce_groups(tensors, sums, work, index, groups);
      }
      const arch::SharedAddress buffer = ring_.acquire();
      QUARRY_ROLLED
      for (int i = 0; i < box_steps; ++i) {
        Part part;
        take(part, sums, index * box_steps + i);
        const StepValues<count, Value> values = evaluate(tensors, part, groups, work, index, i, rows, all);
        put_values<box, Out>(buffer, i * columns, arch::lane_index(), values);
      }
      leave_box(buffer, work, index);
      if constexpr (Values::row_count > 0) {
        if (index % block_boxes == block_boxes - 1) leave_rows(work, index, rows);
      }
    }
    if constexpr (has_vectors) {
      vectors_.release();
      vectors_.advance();
    }
    if constexpr (Values::all_count > 0) leave_all(work, all);
  }

  /// Waits until shared memory is not read any more.
  QUARRY_DEVICE void finish() const { ring_.template wait_read<0>(); }

 private:
  /// Row and column of a box in the output.
  QUARRY_DEVICE static int strip_row(int first_row, int index) {
    return first_row + index / block_boxes * instruction_m;
  }
  QUARRY_DEVICE int box_row(const Work& work, int index) const {
    return work.tile_m * config.tile.m + strip_row(first_row_, index);
  }
  QUARRY_DEVICE static int box_column(const Work& work, int index) {
    return work.tile_n * tile_columns + index % block_boxes * box.columns;
  }
  QUARRY_DEVICE static int all_columns(const Work& work) { return gated ? work.n() / 2 : work.n(); }

  QUARRY_DEVICE void leave_box(arch::SharedAddress buffer, const Work& work, int index) {
    if constexpr (Matrices::are_own) {
      if (work.by_boxes)
        return ring_.store(BoxAt{box_row(work, index), box_column(work, index), 0}, Matrices::out_map(work));
      write_box_of(buffer, work, index, Matrices::out(params_, work));
    } else {
      const bool is_cut = Work::has_neighbours && work.m() - box_row(work, index) < OutputBox::rows;
      if (params_.stores_boxes && !is_cut) {
        const OperandBase base = work.out();
        ring_.store(
            BoxAt{base.row + box_row(work, index), base.column + box_column(work, index), base.batch});
        return;
      }
      write_box_of(buffer, work, index, params_.gemm.out);
    }
    if constexpr (Work::has_neighbours || Matrices::are_own) return ring_.pass();
    ring_.advance();
  }

  /// Writes a box by the lanes.
  QUARRY_DEVICE void write_box_of(arch::SharedAddress buffer, const Work& work, int index,
                                  const MatrixParams& out) const {
    const int tile_row = strip_row(first_row_, index);
    const int tile_column = box_column(work, index) - work.tile_n * config.tile.n;
    if constexpr (gated) {
      const HalfWork<Work> half = {work};
      write_box<config>(buffer, half, tile_row, tile_column, out);
    } else {
      write_box<config>(buffer, work, tile_row, tile_column, out);
    }
  }

  /// As ExpressionStore's.
  QUARRY_DEVICE static int pair_row(int pair) { return arch::lane_index() / 4 + pair % 2 * 8; }
  QUARRY_DEVICE static int pair_column(int pair) { return arch::lane_index() % 4 * 2 + pair / 2 * 8; }

  /// Takes the sums of a step. @param place among the steps of the tile
  QUARRY_DEVICE static void take(Part& part, const FinishedSums<config>& sums, int place) {
    constexpr int steps = boxes * box_steps;
    if constexpr (has_eights<Code>()) {
      take_eights<config, tile_columns, 0, 0, steps>(part.sums, sums, place);
      take_eights<config, tile_columns, 1, 0, steps>(part.partners, sums, place);
    } else {
      take_sums<config, tile_columns, 0, 0, steps>(part.sums, sums, place);
      if constexpr (gated)
        take_sums<config, tile_columns, tile_columns, 0, steps>(part.partners, sums, place);
    }
  }

  /// Loads what the tensors have for the step that begins with a row and a column of the output.
  QUARRY_DEVICE void load(Operands& operands, const Tensors& tensors, const Work& work, int row,
                          int column) const {
    constexpr unsigned ahead = has_vectors ? Vectors::places.inputs : 0;
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) {
      const int left = all_columns(work) - column - pair_column(i);
      const bool exists = row + pair_row(i) < work.m() && left > 0;
      operands.counts[i] = !exists ? 0 : left < 2 ? left : 2;
      if (exists)
        tensors.template load<2, ahead>(operands.held[i], work.out().row + row + pair_row(i),
                                        column + pair_column(i), operands.counts[i]);
    }
    if constexpr (has_vectors) read_vectors(operands, work, row, column);
  }

  /// Reads the vectors that were loaded ahead, for the same step.
  QUARRY_DEVICE void read_vectors(Operands& operands, const Work& work, int row, int column) const {
    const int tile_row = row - work.tile_m * config.tile.m;
    const int tile_column = column - work.tile_n * config.tile.n;
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) {
      Vectors::read(vectors_, expression_, tile_row + pair_row(i), tile_column + pair_column(i),
                    operands.held[i]);
    }
  }

  /// What generated code computes one of a pair's elements with.
  QUARRY_DEVICE static Lane lane_of(Operands& operands, arch::Vector<Value, 2>& outputs, const Pair& sums,
                                    const Pair& others, int pair, int element) {
    return {{operands.held[pair], sums, outputs, element}, others};
  }
  QUARRY_DEVICE static Pair pair_of(const Step& x, int pair) { return {x.v[2 * pair], x.v[2 * pair + 1]}; }

  /// Reduces the group of columns that begins with a box, of both rows of the lane: its own columns, then the
  /// columns of the three other lanes that have the rows.
  QUARRY_DEVICE void reduce_groups(const Tensors& tensors, const FinishedSums<config>& sums, const Work& work,
                                   int index, Groups (&groups)[2]) const {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) Values::each_group(groups[half], groups[half], reductions::Start());
    QUARRY_ROLLED
    for (int step = 0; step < group_steps; ++step) {
      Part part;
      Operands operands;
      take(part, sums, index * box_steps + step);
      load(operands, tensors, work, box_row(work, index), box_column(work, index) + step * columns);
      QUARRY_UNROLL
      for (int i = 0; i < pairs; ++i) add_to_group(part, operands, i, groups[i % 2]);
    }
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) {
      QUARRY_UNROLL
      for (int mask = 1; mask < 4; mask *= 2)
        Values::each_group(groups[half], groups[half], reductions::CombineLane{arch::lane_index() ^ mask});
    }
  }

  QUARRY_DEVICE static void add_to_group(const Part& part, Operands& operands, int pair, Groups& group) {
    const Pair sums = pair_of(part.sums, pair);
    const Pair others = pair_of(part.partners, pair);
    arch::Vector<Value, 2> none;
    QUARRY_UNROLL
    for (int j = 0; j < 2; ++j) {
      if (j >= operands.counts[pair]) continue;
      typename Values::Inputs in;
      Groups own;
      Code::element_inputs(lane_of(operands, none, sums, others, pair, j), in);
      Values::group_operands(in, own);
      Values::each_group(group, own, reductions::Combine());
    }
  }

  /// Writes what is made of the values of a group, by the lane that has its first column.
  QUARRY_DEVICE void leave_group(const Work& work, int row, int column,
                                 const typename Values::Outputs& out) const {
    if (column % group_columns == 0 && row < work.m() && column < all_columns(work))
      Code::group_outputs(
          MatrixLane{expression_, tensor_entry(work), work.out().row + row, column / group_columns}, out);
  }

  /// The outputs of a step; what is reduced joins the totals of the lane's rows, and of all.
  QUARRY_DEVICE StepValues<count, Value> evaluate(const Tensors& tensors, const Part& part,
                                                  const Groups (&groups)[2], const Work& work, int index,
                                                  int step, Lines (&rows)[2], Lines& all) const {
    const int row = box_row(work, index);
    const int column = box_column(work, index) + step * columns;
    Operands operands;
    load(operands, tensors, work, row, column);
    Lines of_columns[pairs];  // of two halves of rows, two columns each: by group of eight columns
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) Values::each_column(of_columns[i], of_columns[i], reductions::Start());
    StepValues<count, Value> values;
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) {
      const Pair sums = pair_of(part.sums, i);
      const Pair others = pair_of(part.partners, i);
      arch::Vector<Value, 2> outputs = {};
      QUARRY_UNROLL
      for (int j = 0; j < 2; ++j) {
        typename Values::Inputs in;
        typename Values::Outputs out;
        Lines lines;
        const Lane lane = lane_of(operands, outputs, sums, others, i, j);
        Code::element_inputs(lane, in);
        Values::elements(in, groups[i % 2], lines, out);
        Code::element_outputs(lane, out);
        if constexpr (has_groups) {
          if (i < 2 && j == 0) leave_group(work, row + pair_row(i), column + pair_column(i), out);
        }
        if (j >= operands.counts[i]) continue;
        Values::each_row(rows[i % 2], lines, reductions::Combine());
        Values::each_column(of_columns[i / 2 * 2 + j], lines, reductions::Combine());
        Values::each_all(all, lines, reductions::Combine());
      }
      values.v[2 * i] = outputs.v[0];
      values.v[2 * i + 1] = outputs.v[1];
      if (operands.counts[i] > 0)
        tensors.template store<2>(operands.held[i], work.out().row + row + pair_row(i),
                                  column + pair_column(i), operands.counts[i]);
    }
    if constexpr (Values::column_count > 0) leave_columns(work, index, column, of_columns);
    return values;
  }

  QUARRY_DEVICE ReducedParts parts() const {
    return {reductions_, params_.gemm, gated ? params_.gemm.n / 2 : params_.gemm.n};
  }

  /// Of the warp's 16 rows. @param column of the output, the step's first
  QUARRY_DEVICE void leave_columns(const Work& work, int index, int column, Lines (&totals)[pairs]) const {
    const ReducedParts parts = this->parts();
    constexpr int tile_pieces = config.cluster.m * config.tile.m / OutputBox::rows;
    const long long entry_pieces = static_cast<long long>(params_.gemm.tiles_m) * tile_pieces;
    const long long part =
        pieces_before(work, entry_pieces, OutputBox::rows) + box_row(work, index) / OutputBox::rows;
    const long long begin = reductions_.columns_at + part * parts.columns;
    const long long stride = reductions_.column_parts * parts.columns;
    QUARRY_UNROLL
    for (int i = 0; i < pairs; ++i) {
      QUARRY_UNROLL
      for (int mask = 4; mask < 32; mask *= 2)
        Values::each_column(totals[i], totals[i], reductions::CombineLane{arch::lane_index() ^ mask});
      const int own = column + arch::lane_index() % 4 * 2 + i / 2 * 8 + i % 2;
      if (arch::lane_index() >= 4 || own >= all_columns(work)) continue;
      Values::each_column(totals[i], totals[i], reductions::WritePartial{parts.slot(begin + own), stride});
    }
  }

  /// Of the tile's columns.
  QUARRY_DEVICE void leave_rows(const Work& work, int index, Lines (&totals)[2]) const {
    const ReducedParts parts = this->parts();
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) {
      QUARRY_UNROLL
      for (int mask = 1; mask < 4; mask *= 2)
        Values::each_row(totals[half], totals[half], reductions::CombineLane{arch::lane_index() ^ mask});
      const int row = box_row(work, index) + arch::lane_index() / 4 + half * 8;
      if (arch::lane_index() % 4 != 0 || row >= work.m()) continue;
      const long long line = row_line(work, params_.gemm, work.out().row + row);
      Values::each_row(totals[half], totals[half],
                       reductions::WritePartial{parts.slot(work.tile_n * parts.all_rows() + line),
                                                reductions_.row_parts * parts.all_rows()});
    }
  }

  QUARRY_DEVICE void leave_all(const Work& work, Lines& total) const {
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_all(total, total, reductions::CombineLane{arch::lane_index() ^ mask});
    if (arch::lane_index() != 0) return;
    const long long before =
        pieces_before(work, params_.gemm.tiles_m, config.tile.m * config.cluster.m) * config.cluster.m;
    const long long tiles_n = static_cast<long long>(params_.gemm.tiles_n) * config.cluster.n;
    const long long tile = (before + work.tile_m) * tiles_n + work.tile_n;
    const long long slot = reductions_.all_at + tile * storing_warps(config) + warp_;
    Values::each_all(total, total, reductions::WritePartial{parts().slot(slot), reductions_.all_parts});
  }

  const TensorGemmParams& params_;
  const ExpressionParams& expression_;
  const ReductionParams& reductions_;
  BoxRing<config> ring_;
  BiasRing<config> vectors_;
  int warp_;       ///< among those that store a tile
  int first_row_;  ///< of the warp in its tile
  OwnMaps<Work> maps_;
};

/// The kernel of an expression with gated pairs or reductions, in both steps.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const WithReductions<TensorGemmParams>& params) {
  if (params.reductions.is_finish) {
    finish_reductions<Code>(params, params.gemm, threads(config));
  } else {
    kernel<config, Code>(static_cast<const TensorGemmParams&>(params));
  }
}

}  // namespace quarry::gemm_sm90
