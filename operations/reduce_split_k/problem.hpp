/// Reductions as arguments: from what a caller wrote to what families decide by, and back.
#pragma once

#include <cstdint>

#include "operations/common/operand_list.hpp"
#include "quarry/gemm.hpp"
#include "quarry/reduce_split_k.hpp"
#include "quarry/status.hpp"
#include "reduce_split_k/family.hpp"

namespace quarry::detail {

/// Checks the arguments and fills `problem`, as the normalise of a GEMM does. `out` decides M, N, the rank
/// and the batch; the partial sums have one extent more, in front. How these lie is not checked, but said
/// (ReduceProblem::is_packed).
/// @param operands the list of these arguments
Status normalise(const ReduceSplitKArguments& arguments, const OperandList& operands, ReduceProblem& problem);

/// A reduction's tensors in the roles of a GEMM's, for what looks at tensors and epilogues alone: the partial
/// sums are its A and accumulator, and it has no B.
GemmArguments in_gemm_roles(const ReduceSplitKArguments& arguments);

/// Back from these roles: the A, packed, as so many slices.
ReduceSplitKArguments reduction_of(const GemmArguments& roles, std::int64_t slices);

}  // namespace quarry::detail
