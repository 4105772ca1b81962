#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "basic/text.hpp"
#include "common/config_parts.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/common/written_pieces.hpp"
#include "operations/gemm/host_expression.hpp"
#include "operations/gemm_list/host_problem.hpp"

namespace quarry::host {
namespace {

/// A matrix of one problem, or a table that all share.
struct Piece {
  TensorView view;
  Operand name;  ///< none for a tensor of an expression
  int problem;
  detail::ByteRange bytes;
  std::string_view called;
  bool may_be_out = false;  ///< an input that may be the output of its own problem
};

Piece piece_of(const MatrixParams& matrix, DType type, Operand name, int problem, int rows, int columns) {
  const std::array<std::int64_t, 2> extents = {rows, columns};
  const std::array<std::int64_t, 2> strides = {matrix.row_stride, matrix.column_stride};
  const TensorView view = TensorView::strided(matrix.data, type, extents, strides);
  const bool may_be_out = name == Operand::c || name == Operand::residual;
  return {view, name, problem, detail::byte_range(view), to_string(name), may_be_out};
}

/// A tensor of an expression. One with a value for each row, or for each column, has one column, or one row.
/// Of a table, any row may be read, whatever was written by then.
/// @param columns of the output, or its groups of columns
Piece piece_of(const detail::ExpressionGraph& graph, const expression::Tensor& tensor,
               const ExpressionTensorParams& params, const ListedGemm& listed, int columns) {
  const bool is_table = tensor.shape == expression::Shape::gathered;
  const MatrixParams& matrix = params.matrix;
  const int rows = is_table ? params.rows.count : listed.gemm.m;
  Piece piece =
      piece_of(matrix, tensor.dtype, Operand::none, listed.number,
               matrix.row_stride == 0 ? std::min(rows, 1) : rows, matrix.column_stride == 0 ? 1 : columns);
  piece.called = tensor.name;
  piece.may_be_out = detail::is_read_before_out(graph, tensor.name);
  return piece;
}

std::string matrix_text(const Piece& piece) {
  return detail::quoted(piece.called) + " of problem " + std::to_string(piece.problem);
}

/// @param other of an output
Status overlap(const Piece& one, const Piece& other) {
  if (one.problem < 0)
    return other.name == Operand::none
               ? detail::invalid("Operand " + detail::quoted(one.called) + " overlaps " + matrix_text(other))
               : detail::output_overlap(one.name, one.may_be_out, other.name);
  return detail::invalid("Operand " + matrix_text(one) + " overlaps " + matrix_text(other));
}

struct Rules {
  /// Whether an input is the output of its own problem: element by element, not one value for many of them.
  static bool is_in_place(const Piece& input, const Piece& out) {
    return input.may_be_out && out.name == Operand::out && input.problem == out.problem &&
           input.view.data == out.view.data && bits_of(input.view.dtype) == bits_of(out.view.dtype) &&
           input.view.extents[0] == out.view.extents[0] && input.view.extents[1] == out.view.extents[1] &&
           (input.view.extents[0] <= 1 || input.view.strides[0] == out.view.strides[0]) &&
           (input.view.extents[1] <= 1 || input.view.strides[1] == out.view.strides[1]);
  }

  static Status check(const Piece& piece, const Piece& out) {
    if (!detail::may_overlap(piece.view, out.view) || is_in_place(piece, out)) return {};
    return overlap(piece, out);
  }
};

/// The scales of an operand. @param lines rows of A, or columns of B
void add_scales(const OperandScale& scale, Operand name, const ListedGemm& listed, int lines,
                std::vector<Piece>& inputs) {
  if (!scale.is_given) return;
  const auto parts = [](int extent, int size) { return (extent + size - 1) / size; };
  const bool by_block = scale.granularity == ScaleGranularity::block_128x128;
  const MatrixParams values = {scale.data, scale.line_stride, scale.k_stride, 0};
  inputs.push_back(piece_of(values, DType::f32, name, listed.number,
                            scale.line_stride == 0 ? 1 : parts(lines, by_block ? scale_block : 1),
                            scale.k_stride == 0 ? 1 : parts(listed.gemm.k, k_positions(scale.granularity))));
}

void add_inputs(const HostKernel& kernel, const ListedGemm& listed, std::vector<Piece>& inputs) {
  const GemmParams& g = listed.gemm;
  const Types& t = kernel.types;
  const auto add = [&](const MatrixParams& matrix, DType type, Operand name, int rows, int columns) {
    if (matrix.data != nullptr) inputs.push_back(piece_of(matrix, type, name, listed.number, rows, columns));
  };
  if (g.k > 0) {
    add(g.a, t.a, Operand::a, g.m, g.k);
    add(g.b, t.b, Operand::b, g.k, g.n);
    add_scales(listed.scales.a, Operand::a_scale, listed, g.m, inputs);
    add_scales(listed.scales.b, Operand::b_scale, listed, g.n, inputs);
  }
  add(g.c, t.out, Operand::c, g.m, g.n);
  add(g.epilogue.residual, t.out, Operand::residual, g.m, g.n);
}

/// What an output of an expression has a value for.
expression::Extent extent_of(const detail::ExpressionGraph& graph, const expression::Tensor& output) {
  return std::ranges::find_if(graph.outputs,
                              [&](const expression::Output& each) { return each.tensor.name == output.name; })
      ->extent;
}

int groups_of(int columns) {
  constexpr int size = expression::group_columns;
  return columns / size + (columns % size != 0 ? 1 : 0);
}

/// The tensors of an expression that are in memory.
void add_tensors(const GemmExpression& expression, const ListedGemm& listed, std::vector<Piece>& inputs,
                 std::vector<Piece>& outputs) {
  each_tensor(
      expression.graph, listed.tensors,
      [&](const expression::Tensor& tensor, const ExpressionTensorParams& own, bool is_output) {
        using Extent = expression::Extent;
        if (own.matrix.data == nullptr) return;
        const Extent extent = is_output ? extent_of(expression.graph, tensor) : Extent::element;
        if (extent == Extent::all && listed.number > 0) return;  // all problems share it
        const int columns = extent == Extent::group ? groups_of(listed.columns) : listed.columns;
        (is_output ? outputs : inputs).push_back(piece_of(expression.graph, tensor, own, listed, columns));
      });
}

/// The sizes, and the leading dimensions where there are such.
void add_tables(const GemmListParams& params, std::vector<Piece>& inputs) {
  const auto add = [&](const int* table, Operand name, int numbers) {
    if (table == nullptr) return;
    inputs.push_back(piece_of({table, numbers, 1, 0}, DType::s32, name, -1, params.gemm.batch, numbers));
  };
  add(params.list.sizes, Operand::sizes, list_extents);
  add(params.list.leading, Operand::leading, list_matrices);
}

}  // namespace

Status check_list_overlaps(const HostKernel& kernel, const GemmListParams& params,
                           const GemmExpression* expression, const std::vector<ListedGemm>& problems) {
  std::vector<Piece> inputs;
  std::vector<Piece> outputs;
  add_tables(params, inputs);
  for (const ListedGemm& listed : problems) {
    const GemmParams& g = listed.gemm;
    outputs.push_back(piece_of(g.out, kernel.types.out, Operand::out, listed.number, g.m, listed.columns));
    const MatrixParams& aux = g.epilogue.aux;
    if (aux.data != nullptr)
      outputs.push_back(piece_of(aux, kernel.types.out, Operand::aux, listed.number, g.m, g.n));
    add_inputs(kernel, listed, inputs);
    if (expression != nullptr) add_tensors(*expression, listed, inputs, outputs);
  }
  return detail::check_written<Rules>(std::move(outputs), inputs);
}

}  // namespace quarry::host
