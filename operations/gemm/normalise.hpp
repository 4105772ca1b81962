/// From what a caller wrote to what families decide by: every check that does not depend on a kernel.
#pragma once

#include "gemm/problem.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Checks the arguments and fills `problem`, in the orientation of the arguments. A failure names the operand
/// at fault, and leaves `problem` undefined. Allocates only where a message needs it.
///
/// - `out` decides M, N, the rank and the batch. Inputs of rank 2 beside an out of rank 3 are the same for
/// the whole batch.
/// - A host alpha of 0 makes K 0: `a` and `b` are not read. A host beta of 0 makes `c` absent, whatever it
/// holds.
/// - The accumulator defaults to f64 for f64 operands, s32 for integer ones, f32 otherwise.
/// - `c` and the residual may be `out` itself (same pointer and strides); every other overlap of an input
/// with `out` is refused, and every overlap with `aux`, as far as pointers are known (see may_overlap).
/// - `c`, the residual and aux are interleaved as `out` is.
/// - Matrices that an array of pointers leads to cannot be seen here: of them, check_host_arrays knows.
/// - Scales of A and B are f32 matrices of the extents that their granularity gives them. Like A and B, they
/// are not read where K is 0, and absent then.
/// - Bias and scale are contiguous vectors. Integers that are computed in s32 have no scale.
/// - An expression takes the place of the epilogue, of which nothing else may be asked then.
/// - Bounds of the clamp become numbers of the compute type.
/// - Where views say in which memory they lie, they must agree: no host memory beside memory of a device, no
/// two devices.
/// @param operands the list of these arguments
Status normalise(const GemmArguments& arguments, const OperandList& operands, GemmProblem& problem);

/// Fills `problem` without a check. @pre normalise accepts the arguments
void describe(const GemmArguments& arguments, GemmProblem& problem);

}  // namespace quarry::detail
