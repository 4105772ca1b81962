/// Computes expressions with reductions: what entries with an expression include beside kernel.cuh. A warp
/// takes a tile: rows one after another, of each some chunks of columns.
#pragma once

#include "common/reductions.cuh"
#include "elementwise/kernel.cuh"
#include "elementwise/reduced_params.hpp"

namespace quarry::elementwise {

/// One place of the tensors: what generated code finishes lines and groups with.
struct PlaceLane {
  const ElementwiseParams& params;
  Place place;

  template <DType type, int tensor>
  QUARRY_DEVICE auto input() const {
    using C = typename elementary::ComputedIn<type>::Type;
    const ElementwiseTensor& from = params.tensors[tensor];
    if constexpr (!is_fp8(type)) {
      if (from.data == nullptr) return to_compute<C>(elementary::stored<type>(from.value));
    }
    return to_compute<C>(read<type>(from, place));
  }
  template <DType type, int tensor, class C>
  QUARRY_DEVICE void output(C value) const {
    const ElementwiseTensor& to = params.tensors[tensor];
    arch::global_store(const_cast<Element<type>*>(address_of<Element<type>>(to, place)),
                       elementary::stored<type>(value));
  }
};

template <class Code, int elements, int tensor = Code::inputs, class Outputs>
QUARRY_DEVICE void store_elements(const ElementwiseParams& params, const Place& place, Outputs& outputs) {
  if constexpr (tensor < Code::tensors) {
    if constexpr (Code::has_elements(tensor))
      store<Code::type(tensor), elements>(params.tensors[tensor], place, outputs.template of<tensor>());
    store_elements<Code, elements, tensor + 1>(params, place, outputs);
  }
}

template <Config config, class Code>
class ReducedTile {
  static constexpr int elements = config.elements;
  static constexpr int held = held_vectors(config);
  /// A group of 128 columns is so many vectors of so many lanes.
  static constexpr int group_vectors = elements < 4 ? 4 / elements : 1;
  static constexpr int group_lanes = elements < 4 ? 32 : 128 / elements;

  using Values = typename Code::Values;
  using Lines = typename Values::Lines;
  using Groups = typename Values::Groups;
  using Inputs = HeldTensors<Code, elements, 0, Code::inputs>;
  using Outputs = HeldTensors<Code, elements, Code::inputs, Code::tensors>;

 public:
  QUARRY_DEVICE ReducedTile(const ReducedElementwiseParams& params, long long tile) : params_(params) {
    const long long down = tile / params.tiles_across;
    tile_ = tile;
    across_ = tile - down * params.tiles_across;
    matrix_ = down / params.tiles_down;
    down_ = down - matrix_ * params.tiles_down;
  }

  QUARRY_DEVICE void run() {
    const long long rows = params_.extents[2];
    const long long first = down_ * params_.rows_of_tile;
    const long long last = min_of(first + params_.rows_of_tile, rows);
    Values::each_all(all_, all_, reductions::Start());
    QUARRY_UNROLL
    for (int i = 0; i < held * elements; ++i)
      Values::each_column(columns_[i], columns_[i], reductions::Start());
    for (long long row = first; row < last; ++row) run_row(row);
    if constexpr (Values::column_count > 0) write_columns();
    if constexpr (Values::all_count > 0) write_all();
  }

 private:
  QUARRY_DEVICE static long long min_of(long long a, long long b) { return a < b ? a : b; }

  QUARRY_DEVICE Place place_of_row(long long row) const {
    Place place = {};
    place.has_lines = true;
    place.at[0] = matrix_ / params_.extents[1];
    place.at[1] = matrix_ - place.at[0] * params_.extents[1];
    place.at[2] = row;
    return place;
  }

  QUARRY_DEVICE long long first_column() const {
    return across_ * params_.chunks_of_tile * chunk_columns(config);
  }

  QUARRY_DEVICE void run_row(long long row) {
    const Place line = place_of_row(row);
    Lines total;
    Values::each_row(total, total, reductions::Start());
    const long long first = first_column();
    const long long last = min_of(
        first + static_cast<long long>(params_.chunks_of_tile) * chunk_columns(config), params_.extents[3]);
    for (long long column = first; column < last; column += chunk_columns(config))
      run_chunk(line, column, total);
    if constexpr (Values::row_count > 0) finish_row(line, total);
  }

  /// Reads what a lane has of a chunk, all of it before the first is computed.
  QUARRY_DEVICE void run_chunk(const Place& line, long long column, Lines& row) {
    Place places[held];
    Inputs inputs[held];
    QUARRY_UNROLL
    for (int i = 0; i < held; ++i) {
      Place& place = places[i];
      place = line;
      place.at[3] = column + (i * 32 + arch::lane_index()) * elements;
      const long long left = params_.extents[3] - place.at[3];
      place.count = left >= elements ? elements : left > 0 ? static_cast<int>(left) : 0;
      if (place.count > 0) load_all<Code, elements>(params_, place, inputs[i]);
    }
    QUARRY_UNROLL
    for (int i = 0; i < held; i += group_vectors) {
      Groups groups;
      if constexpr (Values::group_count > 0) reduce_group(places + i, inputs + i, groups);
      QUARRY_UNROLL
      for (int j = i; j < i + group_vectors; ++j) {
        if (places[j].count > 0) compute(places[j], inputs[j], groups, row, columns_ + j * elements);
      }
    }
  }

  QUARRY_DEVICE static void reduce_group(const Place* places, Inputs* inputs, Groups& groups) {
    Values::each_group(groups, groups, reductions::Start());
    QUARRY_UNROLL
    for (int i = 0; i < group_vectors; ++i) {
      Outputs none;
      QUARRY_UNROLL
      for (int lane = 0; lane < elements; ++lane) {
        if (lane >= places[i].count) continue;
        typename Values::Inputs in;
        Groups own;
        Code::element_inputs(Lane<Code, Inputs, Outputs>{inputs[i], none, lane}, in);
        Values::group_operands(in, own);
        Values::each_group(groups, own, reductions::Combine());
      }
    }
    QUARRY_UNROLL
    for (int mask = 1; mask < group_lanes; mask *= 2)
      Values::each_group(groups, groups, reductions::CombineLane{arch::lane_index() ^ mask});
  }

  /// Computes the elements of a vector that exist, and stores what belongs to them.
  QUARRY_DEVICE void compute(const Place& place, Inputs& inputs, const Groups& groups, Lines& row,
                             Lines* columns) {
    Outputs outputs;
    QUARRY_UNROLL
    for (int lane = 0; lane < elements; ++lane) {
      if (lane >= place.count) continue;
      const Lane<Code, Inputs, Outputs> own{inputs, outputs, lane};
      typename Values::Inputs in;
      typename Values::Outputs out;
      Lines lines;
      Code::element_inputs(own, in);
      Values::elements(in, groups, lines, out);
      Code::element_outputs(own, out);
      Values::each_row(row, lines, reductions::Combine());
      Values::each_column(columns[lane], lines, reductions::Combine());
      Values::each_all(all_, lines, reductions::Combine());
      if (lane == 0 && place.at[3] % 128 == 0) {
        Place group = place;
        group.at[3] = place.at[3] / 128;
        Code::group_outputs(PlaceLane{params_, group}, out);
      }
    }
    store_elements<Code, elements>(params_, place, outputs);
  }

  QUARRY_DEVICE void finish_row(const Place& line, Lines& total) const {
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_row(total, total, reductions::CombineLane{arch::lane_index() ^ mask});
    if (arch::lane_index() != 0) return;
    if (params_.tiles_across == 1) return Code::finish_row(PlaceLane{params_, line}, total);
    const long long lines = params_.extents[0] * params_.extents[1] * params_.extents[2];
    const long long own = matrix_ * params_.extents[2] + line.at[2];
    Values::each_row(total, total,
                     reductions::WritePartial{slot(across_ * lines + own), params_.tiles_across * lines});
  }

  QUARRY_DEVICE void write_columns() {
    const long long all = params_.extents[0] * params_.extents[1] * params_.extents[3];
    QUARRY_UNROLL
    for (int i = 0; i < held * elements; ++i) {
      const int vector = i / elements;
      const long long column =
          first_column() + (vector * 32 + arch::lane_index()) * elements + (i - vector * elements);
      if (column >= params_.extents[3]) continue;
      const long long own = params_.columns_at + down_ * all + matrix_ * params_.extents[3] + column;
      Values::each_column(columns_[i], columns_[i],
                          reductions::WritePartial{slot(own), params_.tiles_down * all});
    }
  }

  QUARRY_DEVICE void write_all() {
    QUARRY_UNROLL
    for (int mask = 1; mask < 32; mask *= 2)
      Values::each_all(all_, all_, reductions::CombineLane{arch::lane_index() ^ mask});
    if (arch::lane_index() != 0) return;
    const long long tiles =
        params_.extents[0] * params_.extents[1] * params_.tiles_down * params_.tiles_across;
    Values::each_all(all_, all_, reductions::WritePartial{slot(params_.all_at + tile_), tiles});
  }

  QUARRY_DEVICE char* slot(long long number) const {
    return static_cast<char*>(params_.partials) + number * reductions::slot_bytes;
  }

  const ReducedElementwiseParams& params_;
  long long tile_;
  long long across_;
  long long down_;
  long long matrix_;
  Lines all_;
  Lines columns_[held * elements];
};

/// The second step; see reductions::FinishStep.
template <class Code>
struct LinesToFinish : reductions::EvenParts {
  const ReducedElementwiseParams& params;

  QUARRY_DEVICE explicit LinesToFinish(const ReducedElementwiseParams& p) : params(p) {
    using Values = typename Code::Values;
    const long long matrices = p.extents[0] * p.extents[1];
    partials = static_cast<const char*>(p.partials);
    rows = Values::row_count > 0 && p.tiles_across != 1 ? matrices * p.extents[2] : 0;
    columns = Values::column_count > 0 ? matrices * p.extents[3] : 0;
    row_parts = p.tiles_across;
    column_parts = p.tiles_down;
    all_parts = matrices * p.tiles_down * p.tiles_across;
    columns_at = p.columns_at;
    all_at = p.all_at;
  }

  QUARRY_DEVICE PlaceLane row_lane(long long line) const {
    const long long matrix = line / params.extents[2];
    return lane(matrix, line - matrix * params.extents[2], 0);
  }
  QUARRY_DEVICE PlaceLane column_lane(long long line) const {
    const long long matrix = line / params.extents[3];
    return lane(matrix, 0, line - matrix * params.extents[3]);
  }
  QUARRY_DEVICE PlaceLane all_lane() const {
    Place place = {};
    place.has_lines = true;
    return {params, place};
  }

 private:
  QUARRY_DEVICE PlaceLane lane(long long matrix, long long row, long long column) const {
    Place place = {};
    place.has_lines = true;
    place.at[0] = matrix / params.extents[1];
    place.at[1] = matrix - place.at[0] * params.extents[1];
    place.at[2] = row;
    place.at[3] = column;
    return {params, place};
  }
};

/// The kernel of an expression with reductions, in both steps.
template <Config config, class Code>
QUARRY_DEVICE void kernel(const ReducedElementwiseParams& params) {
  if (params.is_finish) {
    using Problem = LinesToFinish<Code>;
    return reductions::FinishStep<Code, Problem>(Problem(params)).run(threads(config));
  }
  const long long tile =
      static_cast<long long>(arch::block_index()) * (threads(config) / 32) + arch::warp_index();
  const long long tiles = params.extents[0] * params.extents[1] * params.tiles_down * params.tiles_across;
  if (tile < tiles) ReducedTile<config, Code>(params, tile).run();
}

}  // namespace quarry::elementwise
