/// What an expression makes of the sums of a block, on the CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "gemm/expression_params.hpp"
#include "operations/common/expression/executor.hpp"
#include "operations/gemm/slices.hpp"

namespace quarry::host {

/// An expression and its tensors, in the launch's orientation.
struct GemmExpression {
  const detail::ExpressionGraph& graph;
  const ExpressionParams& params;
  /// Where this is a part of a problem: what adds up the reductions of all elements of all parts, and is
  /// finished after them.
  ExpressionExecutor* all = nullptr;
};

/// Calls `visit(tensor, its parameters, whether it is an output)` for each tensor but `out`.
/// @param params the expression's, or a copy
template <class Params, class Visit>
void each_tensor(const detail::ExpressionGraph& graph, Params& params, const Visit& visit) {
  auto* next = params.tensors;
  for (const expression::Tensor& input : graph.inputs) visit(input, *next++, false);
  for (const expression::Output& output : graph.outputs) {
    if (output.tensor.name != "out") visit(output.tensor, *next++, true);
  }
}

/// Whether outputs need sums of more than their own block.
bool is_wide(const GemmExpression& expression);

/// Whether outputs are made of all elements of a row, of a column, or of all.
bool reduces_lines(const GemmExpression& expression);

/// Where a column of B whose pairs lie in blocks of eight would lie in halves. @param columns of B
constexpr std::int64_t place_in_halves(std::int64_t column, std::int64_t columns) {
  return column / 16 * 8 + column % 8 + (column % 16 < 8 ? 0 : columns / 2);
}

/// What adds up the reductions of all elements of the parts of a problem, and stores what is made of them.
class AllOfParts {
 public:
  explicit AllOfParts(const GemmExpression& expression);
  AllOfParts(const AllOfParts&) = delete;
  AllOfParts& operator=(const AllOfParts&) = delete;

  ExpressionExecutor& executor() { return executor_; }

 private:
  std::vector<HostOperand> inputs_;
  std::vector<HostOperand> outputs_;
  ExpressionExecutor executor_;
};

/// Keeps all sums, and finishes them in one go: with gated pairs and reductions.
class WideExpressionFinish {
 public:
  WideExpressionFinish(const GemmExpression& expression, const GemmParams& params, DType out);

  /// Keeps row `row` of a block. Blocks may be kept at the same time.
  void keep(const Block& block, int row, const double* sums);
  void finish() const;

 private:
  const GemmExpression& expression_;
  const GemmParams& params_;
  DType out_;
  std::vector<double> sums_;  ///< [batch][m][n]
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
