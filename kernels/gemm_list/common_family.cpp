#include "gemm_list/common_family.hpp"

#include <algorithm>
#include <cstdint>

#include "gemm/expression_params.hpp"
#include "gemm/host.hpp"

namespace quarry {

static_assert(expression_is_last<GemmListParams>);

GemmProfile CommonListFamily::profile(const void* config, const DeviceModel& device) const {
  return gemm_profile(traits(config), block_cost(config, device), device);
}

Status CommonListFamily::supports(const GemmProfile& kernel, const GemmListProblem& problem,
                                  const DeviceModel& device) const {
  const int needed = kernel.traits.shared_memory;
  if (needed > device.shared_memory_per_block)
    return {StatusCode::unsupported, Reason::shared_memory, Operand::none, needed,
            device.shared_memory_per_block};
  return problem.gemm.wide.has_any() ? check_wide(kernel.traits, problem.gemm) : Status();
}

Account CommonListFamily::account(const GemmProfile& kernel, const GemmListProblem& problem) const {
  return list_account(problem, kernel.traits.tile,
                      [&](const GemmProblem& batch) { return gemm_account(kernel, batch, 0); });
}

std::size_t CommonListFamily::workspace(const void* config, const GemmListProblem& problem) const {
  return reduction_workspace(traits(config), problem);
}

void CommonListFamily::launch(const void* config, const GemmListProblem& problem,
                              const ChosenControls& controls, Launch& launch) const {
  const GemmTraits kernel = traits(config);
  const bool has_tiles = !is_empty(problem.gemm);
  if (!has_tiles && !problem.gemm.wide.has_lines()) return;
  const bool has_scales = kernel.scales != ScaleSupport::none;
  gemm_launch(kernel, problem.gemm, controls, launch,
              has_scales ? sizeof(ScaledGemmListParams) : sizeof(GemmListParams));
  for (const Step& each : launch.steps)
    add_list(launch, problem, kernel.tile, params_of<GemmListParams>(launch, each).list);
  if (!has_tiles) return;
  Step& step = launch.steps.at[0];
  const std::int64_t at_once = std::int64_t{controls.multiprocessors} * controls.resident;
  const std::int64_t most = std::min(gemm_blocks(kernel, problem.gemm, 1), grid_limit);
  step.blocks_walk = true;
  step.grid = static_cast<unsigned>(std::clamp<std::int64_t>(at_once, 1, most));
  if (has_scales) add_scales(launch, params_of<ScaledGemmListParams>(launch, step).scales, problem.gemm);
}

Tile CommonListFamily::walked_tile(const void* config) const { return traits(config).tile; }

GemmListParams CommonListFamily::params(const std::byte* image, const Step& step) const {
  return params_of<GemmListParams>(image, step);
}

}  // namespace quarry
