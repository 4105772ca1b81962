/// A grouped GEMM after its arguments were checked: what families decide and launch by. Host only.
#pragma once

#include <cstdint>

#include "gemm/problem.hpp"
#include "grouped_gemm/params.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// A checked problem. Sizes of 0 are legal.
struct GroupedGemmProblem {
  /// As if all groups were full; see GroupedGemmParams.
  GemmProblem gemm;
  /// The pointer is null for fake sizes.
  GroupParams groups = {};
  /// Rows, or positions of K, that all groups are expected to have together.
  std::int64_t expected_total = 0;
  /// Of these, as many as the largest group is expected to have; 0: nobody said. No more than an even share:
  /// all groups are alike.
  std::int64_t expected_largest = 0;
};

/// Whether a kernel that takes such scales takes the form of the groups.
Status check_scaled_form(ScaleSupport scales, GroupForm form);

/// What ranking takes for the problem where all groups are alike: groups of one size as a batch.
GemmProblem even_batch(const GroupedGemmProblem& problem);

/// The groups that are not the largest one, where ranking takes them to be smaller: how many of them have
/// rows, and how many rows each has.
struct SmallerGroups {
  std::int64_t count = 0;
  double rows = 0;
};
SmallerGroups smaller_groups(const GroupedGemmProblem& problem);

/// Whether the largest group is expected to have more than an even share.
bool is_uneven(const GroupedGemmProblem& problem);

/// Whether all groups are known to have an even share: there is one, or the largest is expected to have no
/// more.
bool are_alike(const GroupedGemmProblem& problem);

}  // namespace quarry
