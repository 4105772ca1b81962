#include <algorithm>

#include "gemm/estimate.hpp"
#include "gemm/host.hpp"
#include "gemm_simt/cost.hpp"
#include "grouped_gemm/family.hpp"
#include "grouped_gemm_simt/config.hpp"

namespace quarry::grouped_gemm_simt {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GroupedGemmSimt final : public GroupedGemmFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const gemm_simt::Config c = tile_config(config_of(config));
    return gemm_profile(gemm_simt::traits(c), gemm_simt::block_cost(c, device), device);
  }

  Status supports(const GemmProfile& kernel, const GroupedGemmProblem&,
                  const DeviceModel& device) const override {
    const int needed = kernel.traits.shared_memory;
    if (needed <= device.shared_memory_per_block) return {};
    return {StatusCode::unsupported, Reason::shared_memory, Operand::none, needed,
            device.shared_memory_per_block};
  }

  Account account(const GemmProfile& kernel, const GroupedGemmProblem& problem) const override {
    return gemm_account(kernel, even_batch(problem), 0);
  }

  void launch(const void* config, const GroupedGemmProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const GemmTraits traits = gemm_simt::traits(tile_config(config_of(config)));
    if (is_empty(problem.gemm) || span_count(problem.groups) == 0) return;
    gemm_launch(traits, problem.gemm, controls, launch, sizeof(GroupedGemmParams));
    Step& step = launch.steps.at[0];
    auto& params = params_of<GroupedGemmParams>(launch, step);
    params.groups = problem.groups;
    const std::int64_t at_once = std::int64_t{controls.multiprocessors} * controls.resident;
    const std::int64_t tiles = most_group_tiles(params, traits.tile.m);
    step.grid = static_cast<unsigned>(std::clamp<std::int64_t>(at_once, 1, std::min(tiles, grid_limit)));
    if (problem.groups.groups == 0) return;
    relocate(launch, params.groups.sizes, Operand::sizes);
    launch.uses.add({Operand::sizes, DType::s32, false, sizeof(int)});
  }
};

constinit const GroupedGemmSimt instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::grouped_gemm_simt
