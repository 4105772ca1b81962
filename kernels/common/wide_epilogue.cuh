/// The epilogue of expressions with gated pairs or reductions: generated code
/// (operations/gemm/expression_code.hpp) for whole rows of a tile, each in the registers of a warp, and the
/// second step of a launch, which finishes what is reduced beyond a tile.
#pragma once

#include "common/expression_epilogue.cuh"
#include "common/reductions.cuh"

namespace quarry {

/// One of the neighbours: what generated code computes with.
template <class Code, class Held, class Sum, class Kept, int count>
struct WideLane : ExpressionLane<Code, Held, Sum, Kept, count> {
  const arch::Vector<Sum, count>& partners;

  QUARRY_DEVICE Sum gate() const { return this->sum(); }
  QUARRY_DEVICE Sum up() const { return partners.v[this->index]; }
};

/// One place of the tensors: what generated code finishes lines and groups with.
struct MatrixLane {
  const ExpressionParams& params;
  int batch;
  int row;
  int column;

  template <DType type, int tensor>
  QUARRY_DEVICE auto input() const {
    using C = typename elementary::ComputedIn<type>::Type;
    const ExpressionTensorParams& from = params.tensors[tensor];
    if constexpr (!is_fp8(type)) {
      if (from.matrix.data == nullptr) return to_compute<C>(elementary::stored<type>(from.value));
    }
    return to_compute<C>(arch::global_load<Element<type>>(at<Element<type>>(from.matrix)));
  }
  template <DType type, int tensor, class C>
  QUARRY_DEVICE void output(C value) const {
    arch::global_store(at<Element<type>>(params.tensors[tensor].matrix), elementary::stored<type>(value));
  }

 private:
  template <class T>
  QUARRY_DEVICE T* at(const MatrixParams& m) const {
    return static_cast<T*>(const_cast<void*>(m.data)) +
           (batch * m.batch_stride + row * m.row_stride + column * m.column_stride);
  }
};

/// Where the parts of reductions lie in the workspace; see ReductionParams.
struct ReducedParts {
  const ReductionParams& reductions;
  const GemmParams& gemm;
  /// Columns of the output; where outputs have several sizes, of the largest one.
  int columns;

  QUARRY_DEVICE char* slot(long long number) const {
    return static_cast<char*>(reductions.partials) + number * reductions::slot_bytes;
  }
  QUARRY_DEVICE long long all_rows() const { return static_cast<long long>(gemm.batch) * gemm.m; }
};

/// Tiles and warps leave parts by pieces of so many rows. How many pieces lie in front of a problem's own:
/// each entry of a batch has as many, and a group of rows that follow another group's rows begins a new
/// piece.
/// @param entry_pieces of an entry
template <class Work>
QUARRY_DEVICE long long pieces_before(const Work& work, long long entry_pieces, int rows) {
  const OperandBase base = work.out();
  const long long before = base.batch * entry_pieces;
  if constexpr (Work::has_neighbours) return before + base.row / rows + (work.batch - base.batch);
  return before;
}

/// The number of a row in the rows of all entries. @param row of the problem's entry
template <class Work>
QUARRY_DEVICE long long row_line(const Work& work, const GemmParams& gemm, int row) {
  return static_cast<long long>(work.out().batch) * gemm.m + row;
}

/// What kernels take as an epilogue's `For`.
template <class Code, class Sum, class Out, EpilogueForm form>
class WideEpilogue {
  using Tensors = ExpressionTensors<Code, form.by_columns>;
  using Held = typename Tensors::template Held<4>;
  using Values = typename Code::Values;
  using Lines = typename Values::Lines;
  using Groups = typename Values::Groups;
  using Lane = WideLane<Code, Held, Sum, Out, 4>;
  static_assert(!form.by_columns && !form.interleaved, "rows are the output's rows");

 public:
  using Output = Out;
  using Generated = Code;
  static constexpr bool has_short_ways = false;
  static constexpr bool is_wide = true;
  static constexpr bool is_gated = Code::is_gated;

  /// What a warp reduces of a tile: all that it has, and of each column.
  template <int quads>
  struct Reduced {
    Lines all;
    Lines columns[4 * quads];

    QUARRY_DEVICE Reduced() {
      Values::each_all(all, all, reductions::Start());
      QUARRY_UNROLL
      for (int i = 0; i < 4 * quads; ++i) Values::each_column(columns[i], columns[i], reductions::Start());
    }
  };

  QUARRY_DEVICE WideEpilogue(const GemmParams& params, int batch)
      : WideEpilogue(static_cast<const WithReductions<GemmParams>&>(params), params, batch, batch) {}

  /// @param whole the kernel's parameters, with `expression` and `reductions`
  /// @param batch the entry that the tensors have for the output's entry
  template <class Whole>
  QUARRY_DEVICE WideEpilogue(const Whole& whole, const GemmParams& params, int batch, int out_batch)
      : expression_(whole.expression),
        reductions_(whole.reductions),
        params_(params),
        tensors_(whole.expression, batch),
        out_(matrix_of<Out, false, form.batches>(params.out, out_batch)),
        batch_(batch) {}

  /// Finishes a row of a tile, of which the lane has the quads that begin with columns 4 (lane + 32 i).
  template <int quads, class Work>
  QUARRY_DEVICE void write_row(const Work& work, Tile tile, int tile_row, const Quad<Sum> (&sums)[quads],
                               const Quad<Sum> (&partners)[quads], Reduced<quads>& reduced) const {
    const int row = work.out().row + work.tile_m * tile.m + tile_row;
    const int first = work.tile_n * tile_columns(tile);
    Held held[quads];
    int counts[quads];
    QUARRY_UNROLL
    for (int i = 0; i < quads; ++i) {
      const int column = (arch::lane_index() + 32 * i) * 4;
      const int left = work_columns(work) - first - column;
      counts[i] = column >= tile_columns(tile) || left <= 0 ? 0 : left < 4 ? left : 4;
      if (counts[i] > 0) tensors_.template load<4>(held[i], row, first + column, counts[i]);
    }
    Lines total;
    Values::each_row(total, total, reductions::Start());
    QUARRY_UNROLL
    for (int i = 0; i < quads; ++i) {
      Groups groups;
      if constexpr (Values::group_count > 0) reduce_group(held[i], counts[i], sums[i], partners[i], groups);
      if (counts[i] == 0) continue;
      const int column = first + (arch::lane_index() + 32 * i) * 4;
      Quad<Out> outputs = {};
      QUARRY_UNROLL
      for (int j = 0; j < 4; ++j) {
        const Lane lane = {{held[i], sums[i], outputs, j}, partners[i]};
        compute(lane, groups, j < counts[i], row, column, total, reduced.all, reduced.columns[4 * i + j]);
      }
      tensors_.template store<4>(held[i], row, column, counts[i]);
      out_.store(row, column, counts[i], outputs);
    }
    if constexpr (Values::row_count > 0) leave_row(work, row, total);
  }

  /// Leaves what a warp has reduced of a tile.
  template <int quads, class Work>
  QUARRY_DEVICE void leave(const Work& work, Tile tile, Reduced<quads>& reduced, int warps) const {
    const ReducedParts parts = this->parts();
    const int warp = arch::warp_index();
    if constexpr (Values::column_count > 0) {
      const int first = work.tile_n * tile_columns(tile);
      const long long tiles = pieces_before(work, params_.tiles_m, tile.m) + work.tile_m;
      const long long begin = reductions_.columns_at + (tiles * warps + warp) * parts.columns;
      const long long stride = reductions_.column_parts * parts.columns;
      QUARRY_UNROLL
      for (int i = 0; i < 4 * quads; ++i) {
        const int column = (arch::lane_index() + 32 * (i / 4)) * 4 + i % 4;
        if (column >= tile_columns(tile) || first + column >= work_columns(work)) continue;
        Values::each_column(reduced.columns[i], reduced.columns[i],
                            reductions::WritePartial{parts.slot(begin + first + column), stride});
      }
    }
    if constexpr (Values::all_count > 0) {
      QUARRY_UNROLL
      for (int mask = 1; mask < 32; mask *= 2)
        Values::each_all(reduced.all, reduced.all, reductions::CombineLane{arch::lane_index() ^ mask});
      if (arch::lane_index() != 0) return;
      const long long tiles = pieces_before(work, params_.tiles_m, tile.m) + work.tile_m;
      const long long number = tiles * params_.tiles_n + work.tile_n;
      const long long slot = reductions_.all_at + number * warps + warp;
      Values::each_all(reduced.all, reduced.all,
                       reductions::WritePartial{parts.slot(slot), reductions_.all_parts});
    }
  }

 private:
  QUARRY_DEVICE static int tile_columns(Tile tile) { return is_gated ? tile.n / 2 : tile.n; }
  template <class Work>
  QUARRY_DEVICE static int work_columns(const Work& work) {
    return is_gated ? work.n() / 2 : work.n();
  }
  QUARRY_DEVICE ReducedParts parts() const {
    return {reductions_, params_, is_gated ? params_.n / 2 : params_.n};
  }

  /// The lanes' quads are a group of 128 columns.
  QUARRY_DEVICE static void reduce_group(Held& held, int count, const Quad<Sum>& sums,
                                         const Quad<Sum>& partners, Groups& groups) {
    Values::each_group(groups, groups, reductions::Start());
    Quad<Out> none;
    QUARRY_UNROLL
    for (int j = 0; j < 4; ++j) {
      if (j >= count) continue;
      typename Values::Inputs in;
      Groups own;
      Code::element_inputs(Lane{{held, sums, none, j}, partners}, in);
      Values::group_operands(in, own);
      Values::each_group(groups, own, reductions::Combine());
    }
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_group(groups, groups, reductions::CombineLane{arch::lane_index() ^ mask});
  }

  /// Computes one element. @param exists otherwise nothing is kept of it
  QUARRY_DEVICE void compute(const Lane& lane, const Groups& groups, bool exists, int row, int column,
                             Lines& of_row, Lines& of_all, Lines& of_column) const {
    typename Values::Inputs in;
    typename Values::Outputs out;
    Lines lines;
    Code::element_inputs(lane, in);
    Values::elements(in, groups, lines, out);
    Code::element_outputs(lane, out);
    if (!exists) return;
    Values::each_row(of_row, lines, reductions::Combine());
    Values::each_column(of_column, lines, reductions::Combine());
    Values::each_all(of_all, lines, reductions::Combine());
    if (lane.index == 0 && column % 128 == 0)
      Code::group_outputs(MatrixLane{expression_, batch_, row, column / 128}, out);
  }

  template <class Work>
  QUARRY_DEVICE void leave_row(const Work& work, int row, Lines& total) const {
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_row(total, total, reductions::CombineLane{arch::lane_index() ^ mask});
    if (arch::lane_index() != 0) return;
    const ReducedParts parts = this->parts();
    const long long slot = work.tile_n * parts.all_rows() + row_line(work, params_, row);
    Values::each_row(total, total,
                     reductions::WritePartial{parts.slot(slot), reductions_.row_parts * parts.all_rows()});
  }

  const ExpressionParams& expression_;
  const ReductionParams& reductions_;
  const GemmParams& params_;
  Tensors tensors_;
  MatrixView<Out, false> out_;
  int batch_;
};

/// The second step; see reductions::FinishStep.
template <class Code>
struct GemmLines : reductions::EvenParts {
  const ExpressionParams& expression;
  int m;
  int n;
  long long entry_parts;  ///< of the columns of an entry

  QUARRY_DEVICE GemmLines(const ExpressionParams& tensors, const ReductionParams& reductions,
                          const GemmParams& p)
      : expression(tensors), m(p.m), n(Code::is_gated ? p.n / 2 : p.n) {
    using Values = typename Code::Values;
    partials = static_cast<const char*>(reductions.partials);
    rows = Values::row_count > 0 ? static_cast<long long>(p.batch) * m : 0;
    columns = Values::column_count > 0 ? static_cast<long long>(p.batch) * n : 0;
    row_parts = reductions.row_parts;
    column_parts = reductions.column_parts;
    all_parts = reductions.all_parts;
    columns_at = reductions.columns_at;
    all_at = reductions.all_at;
    entry_parts = p.batch > 0 ? column_parts / p.batch : 0;
  }

  QUARRY_DEVICE reductions::LineParts parts_of_column(long long line) const {
    const long long entry = line / n;
    return {columns_at + entry * entry_parts * n + (line - entry * n), n, entry_parts};
  }
  QUARRY_DEVICE long long column_stride() const { return column_parts * n; }

  QUARRY_DEVICE MatrixLane row_lane(long long line) const {
    const int batch = static_cast<int>(line / m);
    return {expression, batch, static_cast<int>(line - static_cast<long long>(batch) * m), 0};
  }
  QUARRY_DEVICE MatrixLane column_lane(long long line) const {
    const int batch = static_cast<int>(line / n);
    return {expression, batch, 0, static_cast<int>(line - static_cast<long long>(batch) * n)};
  }
  QUARRY_DEVICE MatrixLane all_lane() const { return {expression, 0, 0, 0}; }
};

/// Runs the second step.
template <class Code, class Params>
QUARRY_DEVICE void finish_reductions(const WithReductions<Params>& params, const GemmParams& gemm,
                                     int block_threads) {
  using Problem = GemmLines<Code>;
  reductions::FinishStep<Code, Problem>(Problem(params.expression, params.reductions, gemm))
      .run(block_threads);
}

}  // namespace quarry
