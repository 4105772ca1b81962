/// Which kernels can do a reduction: the parts of a query's sentence (query.hpp) that are its own.
#pragma once

#include "operations/reduce_split_k/resolve.hpp"
#include "registry/query/query.hpp"

namespace quarry::detail {

/// A checked query for a reduction.
struct ReduceRequest {
  const ReduceProblem& reduction;
  Wishes wishes;

  const ReduceProblem& problem() const { return reduction; }
};

/// The rows of the problem's types.
RowRanges compatible_rows(const ReduceProblem& problem);

/// no_kernel, with the types that were asked for.
Status no_kernel(const ReduceProblem& problem);

/// What becomes of a row of the problem's types, as `judge` of a GEMM.
Verdict judge(const Row& row, const ReduceRequest& request, Offer& offer, Status& why);

}  // namespace quarry::detail
