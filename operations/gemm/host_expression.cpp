#include "operations/gemm/host_expression.hpp"

#include <algorithm>

#include "operations/common/host/matrix.hpp"

namespace quarry::host {
namespace {

/// In the place of a batch entry's number.
constexpr int all_entries = -1;

/// A tensor of a batch entry, or of all.
HostOperand operand_of(const MatrixParams& matrix, double value, DType type, int batch) {
  if (batch == all_entries) {
    return {.data = const_cast<void*>(matrix.data),
            .type = type,
            .strides = {0, matrix.batch_stride, matrix.row_stride, matrix.column_stride},
            .value = value};
  }
  HostOperand operand = {
      .type = type, .strides = {0, 0, matrix.row_stride, matrix.column_stride}, .value = value};
  if (matrix.data != nullptr) operand.data = const_cast<void*>(first_of(matrix, batch, bits_of(type)));
  return operand;
}

std::vector<HostOperand> inputs_of(const GemmExpression& expression, int batch) {
  std::vector<HostOperand> all;
  const ExpressionTensorParams* next = expression.params.tensors;
  for (const expression::Tensor& input : expression.graph.inputs) {
    const bool is_gathered = input.shape == expression::Shape::gathered;
    all.push_back(operand_of(next->matrix, is_gathered ? 0 : next->value, input.dtype, batch));
    if (is_gathered) {
      all.back().rows = next->rows.count;
      all.back().rows_along = next->rows.are_columns ? 3 : 2;
    }
    ++next;
  }
  return all;
}

std::vector<HostOperand> outputs_of(const GemmExpression& expression, const MatrixParams& out, DType type,
                                    int batch) {
  std::vector<HostOperand> all;
  const ExpressionTensorParams* next = expression.params.tensors + expression.graph.inputs.size();
  for (const expression::Output& output : expression.graph.outputs) {
    if (output.tensor.name == "out") {
      all.push_back(operand_of(out, 0, type, batch));
    } else {
      all.push_back(operand_of(next++->matrix, 0, output.tensor.dtype, batch));
    }
  }
  return all;
}

}  // namespace

bool is_wide(const GemmExpression& expression) {
  const auto reduces = [](const detail::Node& node) { return node.kind == detail::NodeKind::reduce; };
  return expression.graph.is_gated() || std::ranges::any_of(expression.graph.nodes, reduces);
}

bool reduces_lines(const GemmExpression& expression) {
  return std::ranges::any_of(expression.graph.outputs, [](const expression::Output& output) {
    return output.extent != expression::Extent::element && output.extent != expression::Extent::group;
  });
}

WideExpressionFinish::WideExpressionFinish(const GemmExpression& expression, const GemmParams& params,
                                           DType out)
    : expression_(expression),
      params_(params),
      out_(out),
      sums_(static_cast<std::size_t>(params.batch) * static_cast<std::size_t>(params.m) *
            static_cast<std::size_t>(params.n)) {}

void WideExpressionFinish::keep(const Block& block, int row, const double* sums) {
  const std::int64_t line = std::int64_t{block.batch} * params_.m + block.row + row;
  double* const to = sums_.data() + line * params_.n;
  if (expression_.graph.pairs != expression::Pairs::eights) {
    std::copy_n(sums, block.columns, to + block.column);
    return;
  }
  for (int i = 0; i < block.columns; ++i) to[place_in_halves(block.column + i, params_.n)] = sums[i];
}

void WideExpressionFinish::finish() const {
  const std::int64_t columns = expression_.graph.is_gated() ? params_.n / 2 : params_.n;
  const std::vector<HostOperand> inputs = inputs_of(expression_, all_entries);
  const std::vector<HostOperand> outputs = outputs_of(expression_, params_.out, out_, all_entries);
  ExpressionExecutor executor(expression_.graph, {1, params_.batch, params_.m, columns}, inputs,
                              DeviceArithmetic(), StoreOutputs{outputs});
  executor.run_elements([&](const ElementPlace& place) {
    const double* const sums = sums_.data() + (place[1] * params_.m + place[2]) * params_.n + place[3];
    return PartSums{.sum = sums, .up = sums + columns};
  });
  executor.finish_lines();
  if (expression_.all == nullptr) return executor.finish_all();
  expression_.all->add_all(executor);
}

AllOfParts::AllOfParts(const GemmExpression& expression)
    : inputs_(inputs_of(expression, all_entries)),
      outputs_(outputs_of(expression, {}, DType::none, all_entries)),
      executor_(expression.graph, {}, inputs_, DeviceArithmetic(), StoreOutputs{outputs_}) {}

ExpressionFinish::ExpressionFinish(const GemmExpression& expression, const GemmParams& params, DType out,
                                   const Block& block)
    : block_(block),
      inputs_(inputs_of(expression, block.batch)),
      outputs_(outputs_of(expression, params.out, out, block.batch)),
      executor_(expression.graph, {1, 1, params.m, params.n}, inputs_, DeviceArithmetic(),
                StoreOutputs{outputs_}) {}

void ExpressionFinish::row(int row, const double* sums) {
  constexpr int part = ExpressionExecutor::part_columns;
  for (int first = 0; first < block_.columns; first += part) {
    executor_.part({0, 0, block_.row + row, block_.column + first}, std::min(part, block_.columns - first),
                   {.sum = sums + first});
  }
}

}  // namespace quarry::host
