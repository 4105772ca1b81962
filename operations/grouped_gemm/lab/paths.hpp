/// The paths of grouped GEMMs, and a problem of each.
#pragma once

#include <cstdint>

#include "lab/problems/dice.hpp"
#include "operations/grouped_gemm/lab/problem.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab::grouped_gemm {

/// How many paths there are: Lab::paths().
std::int64_t path_count();

/// Rows (or positions of K) that the largest group of a path's problem has at least: some more than all rows
/// of a warp in a tile of two blocks of 64.
inline constexpr std::int64_t least_rows = 90;

/// Makes a problem, of which types alone are known, one of this path. A group of it is not small,
/// and another not empty.
/// @param path below path_count(); a path of the kernel
void draw_path(std::int64_t path, const KernelMetadata& kernel, Problem& problem, Dice& dice);

/// Scales of A, of B or of both, of any granularity; half of the problems have several blocks of K.
void draw_scales(const KernelMetadata& kernel, Problem& problem, Dice& dice);

bool takes_scales(const KernelMetadata& kernel);

}  // namespace quarry::lab::grouped_gemm
