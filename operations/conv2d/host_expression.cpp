#include "operations/conv2d/host_expression.hpp"

namespace quarry::host {

ExpressionFinish finish_of(const ConvolutionExpression& expression, DType type, const Block& block) {
  GemmParams params = {};
  params.out = expression.out;
  params.m = block.row + block.rows;
  params.n = block.column + block.columns;
  return {expression.expression, params, type, block};
}

}  // namespace quarry::host
