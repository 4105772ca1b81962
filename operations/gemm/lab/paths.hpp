/// Random problems of a GEMM by the way that results take out of a kernel.
#pragma once

#include <cstdint>

#include "lab/problems/dice.hpp"
#include "lab/verify/output_paths.hpp"
#include "operations/gemm/lab/problem.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::gemm {

/// How many paths there are: Lab::paths().
std::int64_t path_count();

/// Whether a kernel that takes scales computes problems without any, too, whose sums are not promoted.
bool may_lack_scales(const KernelMetadata& kernel);

/// Whether the operands of this path's problems may get scales where the path draws none.
bool draws_scales(std::int64_t path);

/// Draws sizes, epilogue, batch and controls of a problem of a path, and how the operands of the epilogue are
/// to be stored. Types are there.
/// @param tile of the kernel, or a larger one
void draw_path(std::int64_t path, const KernelMetadata& kernel, const Extent3& tile, Problem& problem,
               Dice& dice);

}  // namespace quarry::lab::gemm
