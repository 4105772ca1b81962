/// A list of GEMMs after its arguments were checked: what families decide and launch by. Host only.
#pragma once

#include <cstdint>

#include "gemm/problem.hpp"
#include "gemm/profile.hpp"
#include "gemm_list/params.hpp"
#include "quarry/account.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// A checked problem. Sizes of 0 are legal.
struct GemmListProblem {
  /// As if all problems were as large as the bounds; see GemmListParams.
  GemmProblem gemm;
  /// Pointers are null for fake operands.
  ListParams list = {};
  bool has_leading = false;
  /// Elements that the leading dimensions of A and B are promised to be multiples of: a power of two, up to
  /// 16. 0 without `leading`.
  std::uint8_t leading_alignment = 0;
  /// The sizes in host memory; null: not known.
  const std::int32_t* host_sizes = nullptr;
  /// The host counts tiles. @pre it knows the sizes
  bool host_schedule = false;
};

/// What N of each problem is a multiple of, whichever kernel computes it; 1 without gated pairs.
inline int least_unit(const GemmListProblem& problem) {
  const WideNeeds& wide = problem.gemm.wide;
  return wide.gated ? pair_unit(wide.eights, Layout::column, 1) : 1;
}

/// Extents of a problem whose sizes the host knows. @pre it does
inline ListExtents host_extents(const GemmListProblem& problem, const GemmParams& bounds, int number) {
  const std::int32_t* const row = problem.host_sizes + static_cast<std::int64_t>(number) * list_extents;
  return in_units(clamped_extents(bounds, {row[0], row[1], row[2]}), least_unit(problem));
}

/// Refuses a kernel that needs more alignment of the lines of A or B than is promised of the leading
/// dimensions that problems have of their own. The alignment of the views is not looked at.
Status check_leading(const GemmTraits& kernel, const GemmListProblem& problem);

/// Whether a kernel that copies pieces, or boxes, of a row-major B takes the halves of gated pairs: of each
/// problem, the second half must begin where a copy may, so the host must know the sizes.
Status check_halves(const GemmTraits& kernel, const GemmListProblem& problem);

/// What ranking takes for the problem: equal problems as a batch, and how many tiles of a kernel the list has
/// for each that the batch has.
struct EqualProblems {
  GemmProblem batch;
  double tiles;
};
EqualProblems equal_problems(const GemmListProblem& problem, Tile tile);

/// The stretches of a list, by tiles of this size. @pre the host knows the sizes, and there are problems
ListStretches stretches_of(const GemmListProblem& problem, Tile tile);

}  // namespace quarry
