/// What an expression makes of the sums of a block, on the CPU.
#pragma once

#include "gemm/expression_params.hpp"
#include "operations/common/expression/executor.hpp"
#include "operations/gemm/slices.hpp"

namespace quarry::host {

/// An expression and its tensors, in the launch's orientation.
struct GemmExpression {
  const detail::ExpressionGraph& graph;
  const ExpressionParams& params;
};

/// Finishes the rows of a block of outputs.
class ExpressionFinish {
 public:
  /// @param out type of the output
  ExpressionFinish(const GemmExpression& expression, const GemmParams& params, DType out, const Block& block);
  ExpressionFinish(const ExpressionFinish&) = delete;
  ExpressionFinish& operator=(const ExpressionFinish&) = delete;

  /// Computes row `row` of the block from its sums, and stores it.
  void row(int row, const double* sums);

 private:
  Block block_;
  std::vector<HostOperand> inputs_;
  std::vector<HostOperand> outputs_;
  ExpressionExecutor executor_;
};

}  // namespace quarry::host
