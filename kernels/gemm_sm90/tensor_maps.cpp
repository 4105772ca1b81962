#include "gemm_sm90/tensor_maps.hpp"

#include <algorithm>
#include <cstdint>

#include "gemm/host.hpp"

namespace quarry::gemm_sm90 {
namespace {

/// A multiple of 16 bytes for where a stride is never used, as there is only one line or one batch entry.
constexpr unsigned long long any_stride = 16;

/// A matrix as the copy engine walks it.
struct Lines {
  const void* data;
  DType dtype;
  int elements;  ///< of a line
  int lines;
  int batch;
  long long line_stride;  ///< in elements
  long long batch_stride;
};

/// @param along_rows lines are rows
Lines lines_of(const MatrixParams& m, DType type, int rows, int columns, int batch, bool along_rows) {
  return {.data = m.data,
          .dtype = type,
          .elements = along_rows ? columns : rows,
          .lines = along_rows ? rows : columns,
          .batch = m.batch_stride == 0 ? 1 : batch,
          .line_stride = along_rows ? m.row_stride : m.column_stride,
          .batch_stride = m.batch_stride};
}

/// Weights of half a byte, as bytes of two each.
Lines bytes_of_weights(const GemmProblem& p) {
  const MatrixParams& m = p.a.matrix;
  return {.data = m.data,
          .dtype = DType::u8,
          .elements = tiles_along(p.k, 2),
          .lines = p.m,
          .batch = m.batch_stride == 0 ? 1 : p.batch,
          .line_stride = m.row_stride / 2,
          .batch_stride = m.batch_stride / 2};
}

Lines lines_of_a(const Layouts& layouts, const GemmProblem& p) {
  if (is_half_byte(p.types.a)) return bytes_of_weights(p);
  return lines_of(p.a.matrix, p.types.a, p.m, p.k, p.batch, layouts.a == Layout::row);
}
Lines lines_of_b(const Layouts& layouts, const GemmProblem& p) {
  return lines_of(p.b.matrix, p.types.b, p.k, p.n, p.batch, layouts.b == Layout::row);
}
/// Of the output, or a matrix of its type and size.
Lines lines_of_out(const Layouts& layouts, const GemmProblem& p, const MatrixParams& matrix) {
  const int columns = p.wide.gated ? p.n / 2 : p.n;
  return lines_of(matrix, p.types.out, p.m, columns, p.batch, layouts.out == Layout::row);
}

/// Whether a stride that is used is past the limit.
bool is_too_long(int extent, long long stride, int element_bytes) {
  return extent > 1 && stride >= map_stride_limit / element_bytes;
}

bool has_long_strides(const Lines& l) {
  const int bytes = bytes_of(l.dtype);
  return is_too_long(l.lines, l.line_stride, bytes) || is_too_long(l.batch, l.batch_stride, bytes);
}

Status check(const Lines& l, const GemmProblem& problem, Operand name) {
  const bool repeats = l.lines > 1 && l.line_stride == 0;
  const Operand who = callers(name, problem);
  const int bytes = bytes_of(l.dtype);
  if (repeats) return {StatusCode::unsupported, Reason::overlapping_stride, who, 16 / bytes, 0};
  if (!has_long_strides(l)) return {};
  const bool by_line = is_too_long(l.lines, l.line_stride, bytes);
  return {StatusCode::unsupported, Reason::stride_limit, who, map_stride_limit,
          (by_line ? l.line_stride : l.batch_stride) * bytes};
}

unsigned long long stride_bytes(int extent, long long stride, int element_bytes) {
  if (extent <= 1) return any_stride;
  return static_cast<unsigned long long>(stride) * static_cast<unsigned long long>(element_bytes);
}

TensorMapFields map_of(const Lines& l, TensorSwizzle swizzle, int box_elements, int box_lines) {
  const auto extent = [](int size) { return static_cast<unsigned long long>(size); };
  const int bytes = bytes_of(l.dtype);
  return {.data = l.data,
          .dtype = l.dtype,
          .swizzle = swizzle,
          .extent = {extent(l.elements), extent(l.lines), extent(l.batch), 0},
          .stride = {stride_bytes(l.lines, l.line_stride, bytes),
                     stride_bytes(l.batch, l.batch_stride, bytes), 0},
          .box = {static_cast<unsigned>(box_elements), static_cast<unsigned>(box_lines), 1},
          .walk = {}};
}

/// Of an operand. The matrix instruction reads f32 as tf32 and ignores the low bits, so loads round them.
TensorMapFields map_of(const Lines& lines, const OperandBox& box, int box_lines) {
  TensorMapFields map = map_of(lines, box.swizzle(), box.panel_line_elements(), box_lines);
  map.rounds_to_tf32 = lines.dtype == DType::f32;
  return map;
}
TensorMapFields map_of(const Lines& lines, const OperandBox& box) {
  return map_of(lines, box, box.part_lines());
}

/// Of B: of gated pairs that lie in halves a copy is of one half of a tile.
TensorMapFields map_of_b(const Config& config, const GemmProblem& problem) {
  const OperandBox box = box_b(config);
  const Lines lines = lines_of_b(config.layouts, problem);
  if (!problem.wide.gated || problem.wide.eights || !box.k_contiguous) return map_of(lines, box);
  return map_of(lines, box, std::min(box.part_lines(), box.extent / 2));
}

/// Whether the epilogue has more than alpha, a bias and an activation.
bool is_general(const GemmProblem& problem) {
  return problem.epilogue.clamps || problem.has_c || problem.has_scale || problem.has_residual ||
         problem.has_aux;
}

/// Whether it adds C or a residual to these, and does nothing else.
bool only_adds(const GemmProblem& problem) {
  return problem.has_c != problem.has_residual && !problem.epilogue.clamps && !problem.has_scale &&
         !problem.has_aux && problem.epilogue.activation == Activation::identity;
}

/// Whether the copy engine can read C in the output's boxes: its lines run as the output's do, and lie apart.
bool can_fetch_c(const Config& config, const GemmProblem& problem) {
  const Lines l = lines_of_out(config.layouts, problem, problem.c.matrix);
  return problem.c.alignment[static_cast<int>(config.layouts.out)] * bytes_of(l.dtype) >= 16 &&
         (l.lines <= 1 || l.line_stride > 0) && !has_long_strides(l);
}

/// The same of the residual, of which only the alignment of an existing residual is known.
bool can_fetch_residual(const Config& config, const GemmProblem& problem) {
  const MatrixParams& matrix = problem.epilogue.residual;
  const Lines l = lines_of_out(config.layouts, problem, matrix);
  const long long element_stride =
      config.layouts.out == Layout::row ? matrix.column_stride : matrix.row_stride;
  const auto is_multiple = [&](int extent, long long stride) {
    return extent <= 1 || (stride > 0 && stride * bytes_of(l.dtype) % 16 == 0);
  };
  return element_stride == 1 && l.data != nullptr && reinterpret_cast<std::uintptr_t>(l.data) % 16 == 0 &&
         is_multiple(l.lines, l.line_stride) && is_multiple(l.batch, l.batch_stride) && !has_long_strides(l);
}

/// Whether boxes hold something else between what the epilogue reads and the residual.
bool uses_box_before_residual(const Config& config, const GemmProblem& problem) {
  const bool activates_in_box = bytes_of(config.types.out) == 4;
  return problem.has_aux || (activates_in_box && problem.epilogue.activation != Activation::identity);
}

/// Which matrix the copy engine fetches: C or the residual where it is the only one that is read.
Fetched fetched(const Config& config, const GemmProblem& problem, const GemmParams& params) {
  if (params.mode != Mode::gemm || problem.has_c == problem.has_residual) return Fetched::none;
  if (problem.has_c) return can_fetch_c(config, problem) ? Fetched::c : Fetched::none;
  return !uses_box_before_residual(config, problem) && can_fetch_residual(config, problem) ? Fetched::residual
                                                                                           : Fetched::none;
}

/// Whether lines of the output begin where the copy engine can store.
bool has_box_lines(const Config& config, const GemmProblem& problem) {
  return problem.out.alignment[static_cast<int>(config.layouts.out)] >= 16 / bytes_of(config.types.out) &&
         !has_long_strides(lines_of_out(config.layouts, problem, problem.out.matrix));
}

/// Whether the kernel itself writes the output, and to where the copy engine can store. It writes chunks of
/// 16 bytes as a whole (so an H200 does; the PTX ISA does not say), which the end of a line must not cut.
bool stores_boxes(const Config& config, const GemmProblem& problem, const GemmParams& params) {
  const int elements = 16 / bytes_of(config.types.out);
  const Lines lines = lines_of_out(config.layouts, problem, problem.out.matrix);
  return params.mode != Mode::split_k_parallel && lines.elements % elements == 0 &&
         has_box_lines(config, problem);
}

}  // namespace

Status check_maps(const Layouts& layouts, const GemmProblem& problem) {
  if (problem.k == 0) return {};
  if (Status status = check(lines_of_a(layouts, problem), problem, Operand::a); !status) return status;
  return check(lines_of_b(layouts, problem), problem, Operand::b);
}

void add_maps(const Config& config, const GemmProblem& problem, TensorGemmParams& params, Launch& launch,
              bool may_fetch) {
  if (config.copy == CopyEngine::tma && problem.k > 0) {
    add_map_of_a(config, problem, params.a, launch, box_a(config).part_lines());
    add_map(launch, params.b, map_of_b(config, problem), callers(Operand::b, problem));
  }
  add_output_maps(config, problem, params, launch, may_fetch);
}

void add_map_of_a(const Config& config, const GemmProblem& problem, const TensorMap& slot, Launch& launch,
                  int box_lines) {
  if (problem.k == 0) return;
  add_map(launch, slot, map_of(lines_of_a(config.layouts, problem), box_a(config), box_lines),
          callers(Operand::a, problem));
}

void add_scattered_output(const Config& config, const GemmProblem& problem, TensorGemmParams& params,
                          Launch& launch) {
  const int elements = 16 / bytes_of(config.types.out);
  params.is_general = is_general(problem);
  params.stores_boxes =
      problem.n % elements == 0 && problem.out.alignment[static_cast<int>(config.layouts.out)] >= elements;
  if (params.stores_boxes)
    std::ranges::find(launch.uses, Operand::out, &PlanOperandNeed::name)->alignment = 16;
}

void add_map_models(const Config& config, const GemmProblem& problem, TensorGemmParams& params,
                    Launch& launch) {
  GemmProblem one = problem;
  one.batch = 1;
  if (problem.k > 0) {
    add_map(launch, params.a, map_of(lines_of_a(config.layouts, one), box_a(config)), Operand::workspace);
    add_map(launch, params.b, map_of_b(config, one), Operand::workspace);
  }
  params.is_general = is_general(problem);
  params.stores_boxes = has_box_lines(config, problem);
  if (!params.stores_boxes) return;
  const OutputBox box = box_out(config);
  add_map(launch, params.out,
          map_of(lines_of_out(config.layouts, one, problem.out.matrix), box.swizzle(), box.line_elements(),
                 box.lines()),
          Operand::workspace);
  PlanOperandNeed& out = *std::ranges::find(launch.uses, Operand::out, &PlanOperandNeed::name);
  if (!is_pointer_array(problem.out.matrix)) out.alignment = 16;
}

void add_output_maps(const Config& config, const GemmProblem& problem, TensorGemmParams& params,
                     Launch& launch, bool may_fetch) {
  const auto map_of_boxes = [&](const MatrixParams& matrix) {
    const OutputBox box = box_out(config);
    return map_of(lines_of_out(config.layouts, problem, matrix), box.swizzle(), box.line_elements(),
                  box.lines());
  };
  const auto add_boxes = [&](const TensorMap& slot, const MatrixParams& matrix, Operand operand) {
    add_map(launch, slot, map_of_boxes(matrix), operand);
    std::ranges::find(launch.uses, operand, &PlanOperandNeed::name)->alignment = 16;
  };
  params.is_general = is_general(problem);
  params.stores_boxes = stores_boxes(config, problem, params.gemm);
  if (!params.stores_boxes) return;
  add_boxes(params.out, problem.out.matrix, Operand::out);
  if (!may_fetch) return;
  params.fetched = fetched(config, problem, params.gemm);
  params.only_adds = params.fetched != Fetched::none && only_adds(problem);
  if (params.fetched == Fetched::c) add_boxes(params.source, problem.c.matrix, Operand::c);
  if (params.fetched == Fetched::residual)
    add_boxes(params.source, problem.epilogue.residual, Operand::residual);
}

}  // namespace quarry::gemm_sm90
