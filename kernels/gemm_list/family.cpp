#include "gemm_list/family.hpp"

namespace quarry {

void add_list(Launch& launch, const GemmListProblem& problem, Tile tile, ListParams& params) {
  params = problem.list;
  if (problem.host_schedule) params.stretches = stretches_of(problem, tile);
  relocate(launch, params.sizes, Operand::sizes);
  launch.uses.add({Operand::sizes, DType::s32, false, sizeof(int)});
  if (!problem.has_leading) return;
  relocate(launch, params.leading, Operand::leading);
  launch.uses.add({Operand::leading, DType::s32, false, sizeof(int)});
}

}  // namespace quarry
