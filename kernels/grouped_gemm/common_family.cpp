#include "grouped_gemm/common_family.hpp"

#include <algorithm>
#include <cstdint>

#include "gemm/expression_params.hpp"
#include "gemm/host.hpp"
#include "grouped_gemm/expected_time.hpp"
#include "grouped_gemm/launch_groups.hpp"

namespace quarry {

static_assert(expression_is_last<GroupedGemmParams>);

GemmProfile CommonGroupedFamily::profile(const void* config, const DeviceModel& device) const {
  return gemm_profile(traits(config), block_cost(config, device), device);
}

Status CommonGroupedFamily::supports(const GemmProfile& kernel, const GroupedGemmProblem& problem,
                                     const DeviceModel& device) const {
  if (Status s = check_scaled_form(kernel.traits.scales, problem.groups.form); !s) return s;
  const int needed = kernel.traits.shared_memory;
  if (needed <= device.shared_memory_per_block)
    return problem.gemm.wide.has_any() ? check_wide(kernel.traits, problem.gemm) : Status();
  return {StatusCode::unsupported, Reason::shared_memory, Operand::none, needed,
          device.shared_memory_per_block};
}

Account CommonGroupedFamily::account(const GemmProfile& kernel, const GroupedGemmProblem& problem) const {
  return expected_time({kernel.traits.tile.m}, problem,
                       [&](const GemmProblem& batch) { return gemm_account(kernel, batch, 0); });
}

std::size_t CommonGroupedFamily::workspace(const void* config, const GroupedGemmProblem& problem) const {
  return workspace_of_groups(traits(config), problem);
}

void CommonGroupedFamily::launch(const void* config, const GroupedGemmProblem& problem,
                                 const ChosenControls& controls, Launch& launch) const {
  const GemmTraits kernel = traits(config);
  const bool has_tiles = !has_no_tiles(problem);
  if (!has_tiles && !problem.gemm.wide.has_lines()) return;
  const bool has_scales = kernel.scales != ScaleSupport::none;
  gemm_launch(kernel, launched_gemm(problem), controls, launch,
              has_scales ? sizeof(ScaledGroupedGemmParams) : sizeof(GroupedGemmParams));
  add_groups<GroupedGemmParams>(launch, problem);
  if (!has_tiles) return;
  Step& step = launch.steps.at[0];
  const auto& params = params_of<GroupedGemmParams>(launch, step);
  const std::int64_t at_once = std::int64_t{controls.multiprocessors} * controls.resident;
  const std::int64_t tiles = most_group_tiles(params.gemm, params.groups, kernel.tile.m);
  step.blocks_walk = true;
  step.grid = static_cast<unsigned>(std::clamp<std::int64_t>(at_once, 1, std::min(tiles, grid_limit)));
  if (has_scales) add_scales(launch, params_of<ScaledGroupedGemmParams>(launch, step).scales, problem.gemm);
}

GroupedGemmParams CommonGroupedFamily::params(const std::byte* image, const Step& step) const {
  return params_of<GroupedGemmParams>(image, step);
}

}  // namespace quarry
