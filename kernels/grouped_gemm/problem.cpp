#include "grouped_gemm/problem.hpp"

#include <algorithm>

namespace quarry {

Status check_scaled_form(ScaleSupport scales, GroupForm form) {
  if (form != GroupForm::ragged_k || scales == ScaleSupport::none) return {};
  return {StatusCode::unsupported, "Ragged K is unsupported by a kernel whose operands have scales"};
}

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
