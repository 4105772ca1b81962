#include "gemm_list/family.hpp"

#include <algorithm>
#include <cstdint>

#include "gemm/host.hpp"

namespace quarry {
namespace {

/// The list of a run: its sizes, and its leading dimensions and stretches where there are such.
void add_list(Launch& launch, const GemmListProblem& problem, Tile tile, ListParams& params) {
  params = problem.list;
  if (problem.host_schedule) params.stretches = stretches_of(problem, tile);
  relocate(launch, params.sizes, Operand::sizes);
  launch.uses.add({Operand::sizes, DType::s32, false, sizeof(int)});
  if (!problem.has_leading) return;
  relocate(launch, params.leading, Operand::leading);
  launch.uses.add({Operand::leading, DType::s32, false, sizeof(int)});
}

}  // namespace

GemmProfile GemmListFamily::profile(const void* config, const DeviceModel& device) const {
  return gemm_profile(traits(config), block_cost(config, device), device);
}

Status GemmListFamily::supports(const GemmProfile& kernel, const GemmListProblem&,
                                const DeviceModel& device) const {
  const int needed = kernel.traits.shared_memory;
  if (needed <= device.shared_memory_per_block) return {};
  return {StatusCode::unsupported, Reason::shared_memory, Operand::none, needed,
          device.shared_memory_per_block};
}

Account GemmListFamily::account(const GemmProfile& kernel, const GemmListProblem& problem) const {
  const EqualProblems equal = equal_problems(problem, kernel.traits.tile);
  Account account = gemm_account(kernel, equal.batch, 0);
  for (double& seconds : account.seconds_of) seconds *= equal.tiles;
  account.seconds *= equal.tiles;
  account.waves *= equal.tiles;
  return account;
}

void GemmListFamily::launch(const void* config, const GemmListProblem& problem,
                            const ChosenControls& controls, Launch& launch) const {
  const GemmTraits kernel = traits(config);
  if (is_empty(problem.gemm)) return;
  gemm_launch(kernel, problem.gemm, controls, launch, sizeof(GemmListParams));
  Step& step = launch.steps.at[0];
  const std::int64_t at_once = std::int64_t{controls.multiprocessors} * controls.resident;
  const std::int64_t most = std::min(gemm_blocks(kernel, problem.gemm, 1), grid_limit);
  step.blocks_walk = true;
  step.grid = static_cast<unsigned>(std::clamp<std::int64_t>(at_once, 1, most));
  add_list(launch, problem, kernel.tile, params_of<GemmListParams>(launch, step).list);
}

GemmListParams GemmListFamily::params(const std::byte* image, const Step& step) const {
  return params_of<GemmListParams>(image, step);
}

}  // namespace quarry
