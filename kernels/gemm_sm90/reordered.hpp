/// Products whose operands the copy engine cannot read, as they are not aligned or repeat one line, and
/// products of 8-bit types and of tf32 whose operands are not contiguous along K, as the matrix instruction
/// needs them. Steps in front of the kernel copy these operands to the workspace, in the layouts that the
/// kernel's code wants. Host only.
#pragma once

#include <cstddef>

#include "gemm/problem.hpp"
#include "launch.hpp"

namespace quarry::gemm_sm90 {

/// The step that copies, as Step::entry counts.
inline constexpr int reorder_entry = 2;

/// Whether an operand may be copied, and has to be for a kernel that copies by the engine.
bool needs_reorder(const Layouts& wanted, const GemmProblem& problem);

/// The same problem with copies in the place of such operands: packed, aligned, without addresses yet.
GemmProblem with_copies(const Layouts& wanted, const GemmProblem& problem);

/// What the copies take: how many there are, the bytes of their matrices in the workspace, and the bytes that
/// they read and write, more where they are made element by element, as these take longer. Nothing where
/// nothing is multiplied.
struct ReorderCost {
  int copies = 0;
  std::size_t workspace = 0;
  double moved = 0;
};
ReorderCost reorder_cost(const Layouts& wanted, const GemmProblem& problem);

/// Makes of a launch for with_copies() one for the problem: moves A and B to the workspace, behind what is
/// there, and puts their copies in front. @pre the launch is not empty
void add_reorders(const Layouts& wanted, const GemmProblem& problem, Launch& launch);

/// The parameters of such a launch with A and B as the caller has them, for the host executor.
GemmParams without_reorders(const Launch& launch, const std::byte* image, const GemmParams& params);

}  // namespace quarry::gemm_sm90
