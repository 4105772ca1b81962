#include <algorithm>

#include "gemm/expression_params.hpp"
#include "gemm/host.hpp"
#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/estimate.hpp"
#include "gemm_sm90/tensor_maps.hpp"
#include "grouped_gemm/expected_time.hpp"
#include "grouped_gemm/family.hpp"
#include "grouped_gemm/launch_groups.hpp"
#include "grouped_gemm_sm90/config.hpp"
#include "grouped_gemm_sm90/params.hpp"

namespace quarry::grouped_gemm_sm90 {
namespace {

using Params = GroupedTensorGemmParams;

static_assert(expression_is_last<Params>);
// A launch with reductions of lines has two steps.
static_assert(2 * (sizeof(WithReductions<Params>) + alignof(TensorMap)) <= Launch::most_image);

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

GemmTraits traits(const Config& c) {
  GemmTraits result = gemm_sm90::traits(tile_config(c));
  result.shared_memory = shared_memory_bytes(c);
  return result;
}

/// What tensor maps see: of contiguous groups, B is the only batch.
GemmProblem mapped(const GroupedGemmProblem& problem) {
  GemmProblem gemm = problem.gemm;
  gemm.batch = problem.groups.groups;
  if (gemm.batch == 0) gemm.k = 0;  // nothing is there to be mapped
  return gemm;
}

/// See most_group_tiles; in clusters.
std::int64_t most_tiles(const GemmTraits& kernel, const GroupedGemmProblem& problem) {
  GemmParams gemm = {};
  gemm.tiles_m = tiles_along(problem.gemm.m, kernel.tile.m);
  gemm.tiles_n = tiles_along(problem.gemm.n, kernel.tile.n);
  return most_group_tiles(gemm, problem.groups, kernel.tile.m);
}

/// Two warpgroups of a cooperative block have half of a tile's rows each; one that has none of a group's does
/// not multiply. With scales of blocks nothing is saved: each promotes its sums while the other multiplies.
TileSteps tile_steps(const GemmProfile& kernel, const GroupedGemmProblem& problem) {
  const GemmTraits& traits = kernel.traits;
  const int blocks_m = traits.cluster / traits.cluster_n;
  const bool has_halves = traits.schedule == Schedule::cooperative && traits.threads == 3 * 128 &&
                          traits.scales != ScaleSupport::block_scales;
  return {traits.tile.m, has_halves ? traits.tile.m / blocks_m / 2 : 0,
          tiles_along(problem.gemm.n, traits.tile.n), kernel.clusters};
}

class GroupedGemmSm90 final : public GroupedGemmFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    GemmProfile result = gemm_sm90::profile(tile_config(config_of(config)), device, false);
    result.traits = traits(config_of(config));
    return result;
  }

  Status supports(const GemmProfile& kernel, const GroupedGemmProblem& problem,
                  const DeviceModel& device) const override {
    if (Status status = check_scaled_form(kernel.traits.scales, problem.groups.form); !status) return status;
    // A box begins at a multiple of 16 bytes along a line, and a group at any row.
    if (problem.groups.form == GroupForm::contiguous && kernel.traits.layouts.a == Layout::column)
      return {StatusCode::unsupported,
              "Contiguous groups are unsupported by a kernel whose A is column-major"};
    const GemmProblem gemm = mapped(problem);
    const std::int64_t tiles = most_tiles(kernel.traits, problem) * kernel.traits.cluster;
    if (tiles > grid_limit)
      return {StatusCode::unsupported, Reason::grid_limit, Operand::none, grid_limit, tiles};
    if (Status status = gemm_supports(kernel.traits, problem.gemm, device); !status) return status;
    if (gemm_sm90::has_plain_strides(kernel.traits.layouts, gemm)) return {};
    return gemm_sm90::check_maps(kernel.traits.layouts, gemm);
  }

  Account account(const GemmProfile& kernel, const GroupedGemmProblem& problem) const override {
    return expected_time(tile_steps(kernel, problem), problem,
                         [&](const GemmProblem& batch) { return gemm_sm90::account(kernel, batch, 0); });
  }

  std::size_t workspace(const void* config, const GroupedGemmProblem& problem) const override {
    return workspace_of_groups(traits(config_of(config)), problem);
  }

  void launch(const void* config, const GroupedGemmProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const Config& c = config_of(config);
    const GemmTraits kernel = traits(c);
    const bool has_tiles = !has_no_tiles(problem);
    if (!has_tiles && !problem.gemm.wide.has_lines()) return;
    const GemmProblem maps = mapped(problem);
    GemmProblem gemm = launched_gemm(problem);
    gemm.k = maps.k;
    const bool has_scales = kernel.scales != ScaleSupport::none;
    gemm_launch(kernel, gemm, controls, launch,
                has_scales ? sizeof(ScaledGroupedTensorGemmParams) : sizeof(Params));
    add_groups<Params>(launch, problem);
    if (!has_tiles) return;
    Step& step = launch.steps.at[0];
    auto& params = params_of<Params>(launch, step);
    params.bands = bands_of(kernel.tile.m, params.gemm.tiles_n);
    step.waits_for_earlier = true;
    step.blocks_walk = true;
    step.cluster = static_cast<unsigned>(kernel.cluster);
    const std::int64_t at_once = gemm_sm90::clusters_at_once(step.cluster, controls.multiprocessors);
    step.grid = static_cast<unsigned>(std::min(at_once, most_tiles(kernel, problem))) * step.cluster;
    const gemm_sm90::Config tile = tile_config(c);
    gemm_sm90::add_maps(tile, maps, params, launch, false);
    if (const gemm_sm90::OperandBox a = box_a(tile); a.k_contiguous) {
      gemm_sm90::add_map_of_a(tile, maps, params.half_a, launch, a.part_lines() / 2);
      gemm_sm90::add_map_of_a(tile, maps, params.quarter_a, launch, a.part_lines() / 4);
    }
    if (has_scales) add_scales(launch, params_of<ScaledGroupedTensorGemmParams>(launch, step).scales, gemm);
  }

  GroupedGemmParams params(const std::byte* image, const Step& step) const override {
    const auto& params = params_of<Params>(image, step);
    return {params.gemm, params.groups};
  }
};

constinit const GroupedGemmSm90 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::grouped_gemm_sm90
