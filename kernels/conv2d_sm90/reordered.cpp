#include "conv2d_sm90/reordered.hpp"

#include <algorithm>
#include <cstdint>

#include "common/epilogue_launch.hpp"
#include "gemm/host.hpp"
#include "reorder_matrix/step.hpp"

namespace quarry::conv2d_sm90 {
namespace {

/// Extents of a tensor: images or filters, their rows, columns and channels.
struct Extents {
  int outer;
  int rows;
  int columns;
  int channels;

  long long pixels() const { return static_cast<long long>(rows) * columns; }
  double elements() const { return static_cast<double>(outer) * static_cast<double>(pixels()) * channels; }
};

/// A tensor that is copied: what it is in the problem, and in the step that copies it.
struct Copied {
  Operand name;
  DType type;
  Extents extents;
  MatrixParams tensor;  ///< as the caller has it

  bool is_output() const { return name == Operand::out; }
  std::uint8_t companion() const { return name == Operand::a || name == Operand::b ? 1 : 2; }
  std::size_t bytes() const {
    return rounded_to_workspace(static_cast<std::size_t>(extents.outer) *
                                static_cast<std::size_t>(extents.pixels()) *
                                static_cast<std::size_t>(extents.channels * bytes_of(type)));
  }
};

/// The tensors that are copied, those that are read first.
FewOf<Copied, 4> copied_tensors(const Conv2dProblem& problem) {
  const GemmProblem& p = problem.product;
  const Windows& w = problem.windows;
  const int images = p.m / (w.rows.places.size * w.columns.places.size);
  const Extents out = {images, w.rows.places.size, w.columns.places.size, p.n};
  FewOf<Copied, 4> all;
  if (p.k > 0) {
    all.add({Operand::a, p.types.a, {images, w.rows.extent, w.columns.extent, w.channels.size}, p.a.matrix});
    all.add(
        {Operand::b, p.types.b, {p.n, w.rows.taps.size, w.columns.taps.size, w.channels.size}, p.b.matrix});
  }
  if (p.has_c) all.add({Operand::c, p.types.out, out, p.c.matrix});
  all.add({Operand::out, p.types.out, out, p.out.matrix});
  return all;
}

/// A packed tensor with neighbouring channels in the workspace.
MatrixParams packed(const Extents& e) {
  const long long row = static_cast<long long>(e.columns) * e.channels;
  return {nullptr, row, e.channels, row * e.rows};
}

ProblemOperand packed_operand(const Copied& copied) {
  ProblemOperand operand;
  operand.matrix = packed(copied.extents);
  operand.pointer_bytes = 16;
  std::ranges::fill(operand.alignment, static_cast<std::uint8_t>(16 / bytes_of(copied.type)));
  return operand;
}

/// The copy of a tensor. Lines are the pixels of an image; of filters, which lie beside one another in
/// groups, they are the filters of a tap.
ReorderParams copy_of(const Copied& copied) {
  const Extents& e = copied.extents;
  const bool are_filters = copied.name == Operand::b;
  const MatrixParams& t = copied.tensor;
  const MatrixParams own = packed(e);
  const auto side = [&](const MatrixParams& m, long long element_stride, bool interleaved) {
    return ReorderSide{.data = m.data,
                       .line_stride = are_filters ? m.batch_stride : m.column_stride,
                       .element_stride = element_stride,
                       .batch_stride = are_filters ? m.column_stride : m.batch_stride,
                       .lines_are_rows = true,
                       .interleaved = interleaved};
  };
  MatrixParams grouped = t;
  if (are_filters && e.outer <= 1) grouped.batch_stride = interleave;  // one filter has no stride
  const ReorderSide theirs = side(grouped, e.rows * t.row_stride, true);
  const ReorderSide ours = side(own, 1, false);
  const auto pixels = static_cast<int>(e.pixels());
  return {.from = copied.is_output() ? ours : theirs,
          .to = copied.is_output() ? theirs : ours,
          .rows = are_filters ? e.outer : pixels,
          .columns = e.channels,
          .batch = are_filters ? pixels : e.outer};
}

/// Lets what belongs to an operand belong to a part of the workspace.
void redirect(Launch& launch, Operand operand, std::size_t offset) {
  for (Relocation& relocation : launch.relocations) {
    if (relocation.source != operand) continue;
    relocation.source = Operand::workspace;
    relocation.offset += offset;
  }
}

/// The copies need no more of an operand than that its elements are whole.
void relax(Launch& launch, const Copied& copied) {
  for (PlanOperandNeed& use : launch.uses) {
    if (use.name == copied.name) use.alignment = static_cast<std::uint16_t>(bytes_of(copied.type));
  }
}

void add_copy(const Copied& copied, std::size_t offset, Launch& launch) {
  const ReorderParams& params =
      reorder_matrix::add_reorder(launch, copied.companion(), copied.type, copy_of(copied));
  const bool writes = copied.is_output();
  relocate(launch, writes ? params.to.data : params.from.data, copied.name);
  relocate(launch, writes ? params.from.data : params.to.data, Operand::workspace, offset);
}

/// The tensor with groups of a step's copy. @param columns of its images or filters
MatrixParams grouped_tensor(const ReorderSide& side, bool are_filters, int columns) {
  const long long pixel = are_filters ? side.batch_stride : side.line_stride;
  return {side.data, pixel * std::max(columns, 1), pixel, are_filters ? side.line_stride : side.batch_stride};
}

constexpr const char* part_names[] = {"reordered a", "reordered b", "reordered c", "reordered out"};

const char* part_name(Operand name) {
  return part_names[name == Operand::a ? 0 : name == Operand::b ? 1 : name == Operand::c ? 2 : 3];
}

}  // namespace

Conv2dProblem with_neighbours(const Conv2dProblem& problem) {
  Conv2dProblem result = problem;
  result.interleaved = false;
  result.whole_k = true;
  GemmProblem& p = result.product;
  for (const Copied& copied : copied_tensors(problem)) {
    ProblemOperand& operand = copied.name == Operand::a   ? p.a
                              : copied.name == Operand::b ? p.b
                              : copied.name == Operand::c ? p.c
                                                          : p.out;
    operand = packed_operand(copied);
  }
  return result;
}

ReorderCost reorder_cost(const Conv2dProblem& problem) {
  ReorderCost cost;
  for (const Copied& copied : copied_tensors(problem)) {
    ++cost.copies;
    cost.workspace += copied.bytes();
    const double bytes = copied.extents.elements() * bytes_of(copied.type);
    cost.moved += 2 * bytes;
    if (copied.is_output()) cost.just_written = bytes;
  }
  return cost;
}

void add_reorders(const Conv2dProblem& problem, Launch& launch) {
  const auto kernels = launch.steps;
  launch.steps.count = 0;
  const auto add = [&](const Copied& copied) {
    const std::size_t offset = launch.workspace_bytes;
    launch.workspace_bytes += copied.bytes();
    launch.parts.add({part_name(copied.name), offset, copied.bytes()});
    redirect(launch, copied.name, offset);
    relax(launch, copied);
    add_copy(copied, offset, launch);
  };
  for (const Copied& copied : copied_tensors(problem)) {
    if (copied.is_output()) {
      for (const Step& step : kernels) launch.steps.add(step);
    }
    add(copied);
  }
}

bool has_reorders(const Launch& launch) { return find_part(launch, part_name(Operand::out)) != nullptr; }

Conv2dParams with_groups(const Launch& launch, const std::byte* image, const Conv2dParams& params) {
  Conv2dParams result = params;
  const Windows& w = params.windows;
  bool has_a = false;
  for (const Step& step : launch.steps) {
    if (step.entry == 0) continue;
    const auto& copy = params_of<ReorderParams>(image, step);
    if (step.entry == 1) {
      (has_a ? result.b : result.a) =
          grouped_tensor(copy.from, has_a, has_a ? w.columns.taps.size : w.columns.extent);
      has_a = true;
    } else if (copy.to.interleaved) {
      result.out = grouped_tensor(copy.to, false, w.columns.places.size);
    } else {
      result.c = grouped_tensor(copy.from, false, w.columns.places.size);
    }
  }
  return result;
}

}  // namespace quarry::conv2d_sm90
