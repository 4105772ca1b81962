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
};

/// Whether a kernel that takes such scales takes the form of the groups.
Status check_scaled_form(ScaleSupport scales, GroupForm form);

/// What ranking takes for the problem: groups of one size as a batch.
GemmProblem even_batch(const GroupedGemmProblem& problem);

}  // namespace quarry
