#include "operations/gemm/host_expression.hpp"

#include <algorithm>

#include "operations/common/host/matrix.hpp"

namespace quarry::host {
namespace {

/// A tensor of the block's batch entry.
HostOperand operand_of(const MatrixParams& matrix, double value, DType type, int batch) {
  HostOperand operand = {
      .type = type, .strides = {0, 0, matrix.row_stride, matrix.column_stride}, .value = value};
  if (matrix.data != nullptr) operand.data = const_cast<void*>(first_of(matrix, batch, bits_of(type)));
  return operand;
}

std::vector<HostOperand> inputs_of(const GemmExpression& expression, int batch) {
  std::vector<HostOperand> all;
  const ExpressionTensorParams* next = expression.params.tensors;
  for (const expression::Tensor& input : expression.graph.inputs) {
    all.push_back(operand_of(next->matrix, next->value, input.dtype, batch));
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
