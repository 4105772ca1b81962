#include "grouped_gemm/problem.hpp"

#include <algorithm>

namespace quarry {

GemmProblem even_batch(const GroupedGemmProblem& problem) {
  GemmProblem batch = problem.gemm;
  const std::int64_t groups = std::max(problem.groups.groups, 1);
  const auto each = static_cast<int>((problem.expected_total + groups - 1) / groups);
  batch.batch = static_cast<int>(groups);
  (problem.groups.form == GroupForm::ragged_k ? batch.k : batch.m) = each;
  batch.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  return batch;
}

}  // namespace quarry
