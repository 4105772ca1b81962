#include "gemm_list/family.hpp"

#include <algorithm>

#include "gemm/host.hpp"

namespace quarry {

void add_list(Launch& launch, const GemmListProblem& problem, Tile tile, ListParams& params) {
  params = problem.list;
  if (problem.host_schedule) params.stretches = stretches_of(problem, tile);
  if (problem.gemm.batch == 0) return;  // reductions of nothing read no sizes
  relocate(launch, params.sizes, Operand::sizes);
  if (problem.has_leading) relocate(launch, params.leading, Operand::leading);
  const auto is_sizes = [](const PlanOperandNeed& use) { return use.name == Operand::sizes; };
  if (std::any_of(launch.uses.begin(), launch.uses.end(), is_sizes)) return;  // of a step before
  launch.uses.add({Operand::sizes, DType::s32, false, sizeof(int)});
  if (problem.has_leading) launch.uses.add({Operand::leading, DType::s32, false, sizeof(int)});
}

std::size_t reduction_workspace(const GemmTraits& kernel, const GemmListProblem& problem) {
  if (is_empty(problem.gemm)) return 0;
  return gemm_workspace(kernel, problem.gemm, {.mode = Mode::gemm, .split_k_slices = 1}).bytes;
}

}  // namespace quarry
