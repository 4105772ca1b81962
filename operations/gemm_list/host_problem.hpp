/// A problem of a list in host memory, and what may be wrong with it.
#pragma once

#include <string>
#include <vector>

#include "gemm/expression_params.hpp"
#include "gemm_list/params.hpp"
#include "operations/gemm/executor.hpp"
#include "quarry/status.hpp"

namespace quarry::host {

/// One GEMM of a list.
struct ListedGemm {
  int number;
  /// Of this problem alone: its extents and its own matrices, one batch entry.
  GemmParams gemm;
  int columns;               ///< of its output
  OperandScales scales;      ///< likewise
  ExpressionParams tensors;  ///< likewise, of an expression
};

/// Ok where the extents of a problem are not negative and within the bounds, and N is whole units; otherwise
/// invalid_arguments.
/// @param unit of gated pairs (pair_unit); 1: there are none
Status check_extents(const GemmParams& bounds, int number, const ListExtents& given, int unit);

/// What the leading dimensions of one problem are checked by.
struct LeadingCheck {
  const GemmParams& bounds;  ///< with the strides of the views
  const ListParams& list;
  bool has_c;
  Alignment alignment;  ///< that a kernel needs of A and B
};

/// Ok where the leading dimensions of a problem are no less than its lines, no more than the view's, and
/// multiples of what a kernel needs; otherwise invalid_arguments. A matrix of at most one line has any.
/// @param own extents of the problem, and `output` of its output @param leading of a, b, c and out
Status check_lines(const LeadingCheck& check, int number, const ListExtents& own, const ListExtents& output,
                   const int* leading);

/// Ok where the problems have as many tiles as the host counted of them (ListStretches); otherwise
/// invalid_arguments that names the first that have not. @param unit as of check_extents
Status check_stretches(const GemmListParams& params, Tile tile, int unit);

/// The problems whose outputs have elements. invalid_arguments that names the first one whose sizes make no
/// sense, unless these are to be clamped, or whose pointer is null or misaligned.
/// @param expression null: the epilogue is the standard one @param unit as of check_extents
Status list_problems(const HostKernel& kernel, Alignment alignment, const GemmListParams& params,
                     const OperandScales& scales, const GemmExpression* expression, int unit,
                     std::vector<ListedGemm>& problems);

/// Ok where no output shares memory with another one, nor with an input, but where C, the residual or an
/// input of the expression is the output of the same problem. As far as may_overlap tells.
Status check_list_overlaps(const HostKernel& kernel, const GemmListParams& params,
                           const GemmExpression* expression, const std::vector<ListedGemm>& problems);

}  // namespace quarry::host
