#include "gemm_sm90/reordered.hpp"

#include <algorithm>
#include <cstdint>

#include "gemm/host.hpp"
#include "reorder_matrix/step.hpp"

namespace quarry::gemm_sm90 {
namespace {

/// An operand of a problem, and its extents.
struct Source {
  Operand name;
  const ProblemOperand& operand;
  DType type;
  int rows;
  int columns;

  Layout wanted;  ///< by the kernel
};
Source source_a(const Layouts& wanted, const GemmProblem& p) {
  return {Operand::a, p.a, p.types.a, p.m, p.k, wanted.a};
}
Source source_b(const Layouts& wanted, const GemmProblem& p) {
  return {Operand::b, p.b, p.types.b, p.k, p.n, wanted.b};
}

/// An operand that is copied: its name here, and the lines of the copy.
struct Copied {
  Operand name;
  DType type;
  Layout layout;
  int lines;
  int length;           ///< elements of a line
  int read_length;      ///< elements of a line of the caller's matrix
  int matrices;         ///< one where all of a batch share it
  MatrixParams matrix;  ///< as the caller has it
  bool in_pieces;       ///< its lines begin where pieces of 16 bytes can be read

  bool is_rows() const { return layout == Layout::row; }
  /// Elements from one line of the copy to the next: lines begin where the copy engine can read.
  long long line_stride() const {
    const int whole = 16 / bytes_of(type);
    return static_cast<long long>(tiles_along(length, whole)) * whole;
  }
  long long batch_stride() const { return matrices == 1 ? 0 : line_stride() * lines; }
  std::size_t bytes() const {
    return rounded_to_workspace(static_cast<std::size_t>(line_stride()) * static_cast<std::size_t>(lines) *
                                static_cast<std::size_t>(matrices) *
                                static_cast<std::size_t>(bytes_of(type)));
  }
  /// In the workspace.
  MatrixParams copy() const {
    return is_rows() ? MatrixParams{nullptr, line_stride(), 1, batch_stride()}
                     : MatrixParams{nullptr, 1, line_stride(), batch_stride()};
  }
};

/// Whether the copy engine cannot read an operand as it is in the layout that the kernel wants.
bool needs_copy(const Source& source) {
  const bool by_rows = source.wanted == Layout::row;
  const auto layout = static_cast<std::size_t>(source.wanted);
  const MatrixParams& m = source.operand.matrix;
  const bool repeats =
      by_rows ? source.rows > 1 && m.row_stride == 0 : source.columns > 1 && m.column_stride == 0;
  return !source.operand.fits[layout] || source.operand.alignment[layout] < 16 / bytes_of(source.type) ||
         repeats;
}

Copied copied(const Source& source, int batch) {
  const MatrixParams& m = source.operand.matrix;
  const bool by_rows = source.wanted == Layout::row;
  const Layout read = m.column_stride == 1 ? Layout::row : Layout::column;
  return {
      .name = source.name,
      .type = source.type,
      .layout = source.wanted,
      .lines = by_rows ? source.rows : source.columns,
      .length = by_rows ? source.columns : source.rows,
      .read_length = read == Layout::row ? source.columns : source.rows,
      .matrices = m.batch_stride == 0 ? 1 : batch,
      .matrix = m,
      .in_pieces = source.operand.alignment[static_cast<std::size_t>(read)] * bytes_of(source.type) >= 16};
}

/// The operands that are copied, also where there are no elements to copy.
FewOf<Copied, 2> copied_operands(const Layouts& wanted, const GemmProblem& p) {
  FewOf<Copied, 2> all;
  for (const Source& source : {source_a(wanted, p), source_b(wanted, p)}) {
    if (needs_copy(source)) all.add(copied(source, p.batch));
  }
  return all;
}

/// By how much a copy takes longer that is read in words shorter than 16 bytes; and for each four elements of
/// the rest of a line that is read and makes no piece of 16 bytes, as a share of a piece: they wait for each
/// other, and all threads of a warp wait for them. From copies of 4096x4097 elements, and of 139 bytes or 20
/// f16 a line, on an H200, 2026-11-30.
constexpr double by_words = 0.4;
constexpr double four_of_rest = 6;

double moved_bytes(const Copied& copied) {
  const int element = bytes_of(copied.type);
  const int piece = 16 / element;
  const double bytes = 2.0 * copied.lines * copied.length * copied.matrices * element;
  const double rest = static_cast<double>(tiles_along(copied.read_length % piece, 4)) /
                      static_cast<double>(tiles_along(copied.read_length, piece));
  return bytes * (1 + (copied.in_pieces ? 0 : by_words) + four_of_rest * rest);
}

bool multiplies(const GemmProblem& problem) { return problem.k > 0 && !is_empty(problem); }

ProblemOperand copied_operand(const Copied& copied) {
  ProblemOperand operand;
  const auto layout = static_cast<std::size_t>(copied.layout);
  operand.matrix = copied.copy();
  operand.fits[layout] = true;
  operand.alignment[layout] = static_cast<std::uint8_t>(16 / bytes_of(copied.type));
  operand.pointer_bytes = 16;
  return operand;
}

/// The caller's matrix may have its lines the other way.
ReorderParams copy_of(const Copied& copied) {
  const MatrixParams& m = copied.matrix;
  const bool to_rows = copied.is_rows();
  const bool from_rows = m.column_stride == 1;
  const ReorderSide from = {m.data,
                            from_rows ? m.row_stride : m.column_stride,
                            from_rows ? m.column_stride : m.row_stride,
                            m.batch_stride,
                            from_rows,
                            false};
  const ReorderSide to = {nullptr, copied.line_stride(), 1, copied.batch_stride(), to_rows, false};
  return {.from = from,
          .to = to,
          .rows = to_rows ? copied.lines : copied.length,
          .columns = to_rows ? copied.length : copied.lines,
          .batch = copied.matrices};
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
void relax(Launch& launch, Operand operand, DType type) {
  for (PlanOperandNeed& use : launch.uses) {
    if (use.name == operand) use.alignment = static_cast<std::uint16_t>(bytes_of(type));
  }
}

void add_copy(const GemmProblem& problem, const Copied& copied, Launch& launch) {
  const Operand theirs = callers(copied.name, problem);
  const std::size_t offset = launch.workspace_bytes;
  launch.workspace_bytes += copied.bytes();
  launch.parts.add({theirs == Operand::a ? "reordered a" : "reordered b", offset, copied.bytes()});
  redirect(launch, theirs, offset);
  relax(launch, theirs, copied.type);
  const ReorderParams& params =
      reorder_matrix::add_reorder(launch, reorder_entry, copied.type, copy_of(copied));
  relocate(launch, params.from.data, theirs);
  relocate(launch, params.to.data, Operand::workspace, offset);
}

/// The matrix of one side of a copy.
MatrixParams matrix_of(const ReorderSide& side) {
  return side.lines_are_rows
             ? MatrixParams{side.data, side.line_stride, side.element_stride, side.batch_stride}
             : MatrixParams{side.data, side.element_stride, side.line_stride, side.batch_stride};
}

}  // namespace

bool needs_reorder(const Layouts& wanted, const GemmProblem& problem) {
  return problem.reorders && (needs_copy(source_a(wanted, problem)) || needs_copy(source_b(wanted, problem)));
}

GemmProblem with_copies(const Layouts& wanted, const GemmProblem& problem) {
  GemmProblem result = problem;
  result.reorders = false;
  for (const Copied& copied : copied_operands(wanted, problem))
    (copied.name == Operand::a ? result.a : result.b) = copied_operand(copied);
  if (!problem.traffic) return result;
  result.traffic = traffic_of(result);
  result.traffic->roots = split_k_roots(result);
  return result;
}

ReorderCost reorder_cost(const Layouts& wanted, const GemmProblem& problem) {
  ReorderCost cost;
  if (!multiplies(problem)) return cost;
  for (const Copied& copied : copied_operands(wanted, problem)) {
    ++cost.copies;
    cost.workspace += copied.bytes();
    cost.moved += moved_bytes(copied);
  }
  return cost;
}

void add_reorders(const Layouts& wanted, const GemmProblem& problem, Launch& launch) {
  if (!multiplies(problem)) return;
  const auto steps = launch.steps;
  launch.steps.count = 0;
  launch.workspace_bytes = rounded_to_workspace(launch.workspace_bytes);
  for (const Copied& copied : copied_operands(wanted, problem)) add_copy(problem, copied, launch);
  for (const Step& step : steps) launch.steps.add(step);
}

GemmParams without_reorders(const Launch& launch, const std::byte* image, const GemmParams& params) {
  GemmParams result = params;
  for (const Step& step : launch.steps) {
    if (step.kind != Step::Kind::kernel || step.entry != reorder_entry) continue;
    const auto& copy = params_of<ReorderParams>(image, step);
    (copy.to.data == params.a.data ? result.a : result.b) = matrix_of(copy.from);
  }
  return result;
}

}  // namespace quarry::gemm_sm90
