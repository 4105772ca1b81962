#include "conv2d_sm90/phases.hpp"

#include <algorithm>
#include <cstdint>

namespace quarry::conv2d_sm90 {
namespace {

int begin_of(const PhasesAlong& along, const PhaseAxis& phase) {
  return phase.padding - (phase.taps - 1) * along.dilation;
}

int images(const Conv2dProblem& problem) {
  const Windows& w = problem.windows;
  return problem.product.m / (w.rows.places.size * w.columns.places.size);
}

/// A phase of both axes.
TensorPhase phase_of(const PhasedAxis& rows, const PhaseAxis& row, const PhasedAxis& columns,
                     const PhaseAxis& column, int filter_columns) {
  const bool has_taps = row.taps > 0 && column.taps > 0;
  TensorPhase phase = {.last_tap = 0,
                       .row_taps = 0,
                       .column_taps = 1,
                       .rows_on = 0,
                       .columns_on = 0,
                       .first_row = static_cast<unsigned char>(row.first),
                       .first_column = static_cast<unsigned char>(column.first)};
  if (!has_taps) return phase;
  const int last_row = row.first_tap + (row.taps - 1) * rows.along.tap_step;
  const int last_column = column.first_tap + (column.taps - 1) * columns.along.tap_step;
  phase.last_tap = last_row * filter_columns + last_column;
  phase.row_taps = static_cast<short>(row.taps);
  phase.column_taps = static_cast<short>(column.taps);
  phase.rows_on = static_cast<unsigned char>(begin_of(rows.along, row) - rows.first);
  phase.columns_on = static_cast<unsigned char>(begin_of(columns.along, column) - columns.first);
  return phase;
}

int taps_of(const TensorPhase& phase) { return phase.row_taps * phase.column_taps; }

/// The phases that have places, in descending order of taps.
struct PhaseTable {
  PhasedAxis rows;
  PhasedAxis columns;
  int count = 0;
  TensorPhase at[most_phases * most_phases];

  explicit PhaseTable(const Conv2dProblem& problem)
      : rows(phased_axis(problem, problem.windows.rows)),
        columns(phased_axis(problem, problem.windows.columns)) {
    for (int row = 0; row < rows.along.stride; ++row) {
      for (int column = 0; column < columns.along.stride; ++column)
        add(rows.along.at[row], columns.along.at[column], problem.windows.columns.taps.size);
    }
    std::stable_sort(at, at + count, [](const TensorPhase& one, const TensorPhase& other) {
      return taps_of(one) > taps_of(other);
    });
  }

 private:
  void add(const PhaseAxis& row, const PhaseAxis& column, int filter_columns) {
    if (row.places == 0 || column.places == 0) return;
    at[count++] = phase_of(rows, row, columns, column, filter_columns);
  }
};

GemmProblem product_of(const Conv2dProblem& problem, const PhaseTable& table, int k) {
  GemmProblem p = problem.product;
  p.m = images(problem) * table.rows.places * table.columns.places;
  p.k = k;
  p.batch = table.count;
  return p;
}

PhaseWalkAxis walk_axis(const PhasedAxis& axis, int tap_step) {
  return {.places = divisor_of(axis.places),
          .first = axis.first,
          .dilation = axis.along.dilation,
          .tap_step = axis.along.tap_step * tap_step};
}

}  // namespace

PhasedAxis phased_axis(const Conv2dProblem& problem, const WindowAxis& axis) {
  const int taps = problem.product.k > 0 ? axis.taps.size : 0;
  PhasedAxis phased = {.along = phases_along(axis, axis.places.size, taps, problem.windows.flips),
                       .places = steps_to(0, axis.places.size, axis.stride.size),
                       .first = 0,
                       .reach = 0};
  bool is_first = true;
  int last = 0;
  for (int i = 0; i < phased.along.stride; ++i) {
    const PhaseAxis& phase = phased.along.at[i];
    if (phase.taps == 0) continue;
    const int begin = begin_of(phased.along, phase);
    phased.first = is_first ? begin : std::min(phased.first, begin);
    last = is_first ? phase.padding : std::max(last, phase.padding);
    is_first = false;
  }
  phased.reach = last - phased.first;
  return phased;
}

GemmProblem phased_product(const Conv2dProblem& problem, int padded_channels) {
  const PhaseTable table(problem);
  return product_of(problem, table, taps_of(table.at[0]) * padded_channels);
}

GemmProblem mean_phase(const Conv2dProblem& problem, int padded_channels) {
  const PhaseTable table(problem);
  std::int64_t k = 0;
  for (int i = 0; i < table.count; ++i) k += std::int64_t{taps_of(table.at[i])} * padded_channels;
  if (k > 0) k = std::max<std::int64_t>(1, k / table.count);
  return product_of(problem, table, static_cast<int>(k));
}

void add_phases(const Conv2dProblem& problem, PhasedTensorConv2dParams& params) {
  const PhaseTable table(problem);
  params.rows = walk_axis(table.rows, problem.windows.columns.taps.size);
  params.columns = walk_axis(table.columns, 1);
  std::copy_n(table.at, table.count, params.phases);
}

Conv2dParams whole_product(const PhasedTensorConv2dParams& params) {
  Conv2dParams p{params.gemm, params.windows};
  const Windows& w = p.windows;
  const int images = p.m / (params.rows.places.size * params.columns.places.size);
  p.m = images * w.rows.places.size * w.columns.places.size;
  p.batch = 1;
  if (p.k > 0) p.k = w.rows.taps.size * w.columns.taps.size * w.channels.size;
  p.mode = Mode::gemm;
  p.slices = 1;
  return p;
}

}  // namespace quarry::conv2d_sm90
