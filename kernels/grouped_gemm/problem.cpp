#include "grouped_gemm/problem.hpp"

#include <algorithm>

namespace quarry {

Status check_scaled_form(ScaleSupport scales, GroupForm form) {
  if (form != GroupForm::ragged_k || scales == ScaleSupport::none) return {};
  return {StatusCode::unsupported, "Ragged K is unsupported by a kernel whose operands have scales"};
}

namespace {

/// Rows of a group where all have as many.
std::int64_t even_rows(const GroupedGemmProblem& problem) {
  const std::int64_t groups = std::max(problem.groups.groups, 1);
  return (problem.expected_total + groups - 1) / groups;
}

}  // namespace

GemmProblem even_batch(const GroupedGemmProblem& problem) {
  GemmProblem batch = problem.gemm;
  batch.batch = std::max(problem.groups.groups, 1);
  (problem.groups.form == GroupForm::ragged_k ? batch.k : batch.m) = static_cast<int>(even_rows(problem));
  batch.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  return batch;
}

bool is_uneven(const GroupedGemmProblem& problem) {
  return problem.groups.groups > 1 && problem.expected_largest > even_rows(problem);
}

bool are_alike(const GroupedGemmProblem& problem) {
  return problem.groups.groups == 1 || (problem.expected_largest > 0 && !is_uneven(problem));
}

SmallerGroups smaller_groups(const GroupedGemmProblem& problem) {
  const std::int64_t rest = std::max<std::int64_t>(problem.expected_total - problem.expected_largest, 0);
  const std::int64_t count = std::min<std::int64_t>(problem.groups.groups - 1, rest);
  return {count, count > 0 ? static_cast<double>(rest) / static_cast<double>(count) : 0};
}

}  // namespace quarry
