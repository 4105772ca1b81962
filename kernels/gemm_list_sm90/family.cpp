#include <algorithm>
#include <cstdint>
#include <utility>

#include "gemm/expression_params.hpp"
#include "gemm/host.hpp"
#include "gemm_list/family.hpp"
#include "gemm_list_sm90/config.hpp"
#include "gemm_list_sm90/params.hpp"
#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/estimate.hpp"
#include "gemm_sm90/tensor_maps.hpp"

namespace quarry::gemm_list_sm90 {
namespace {

using Params = ListTensorGemmParams;

static_assert(expression_is_last<Params>);
// A launch has two steps, and one more with reductions of lines.
static_assert(3 * (sizeof(WithReductions<Params>) + alignof(TensorMap)) <= Launch::most_image);

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// Those of gemm_sm90's kernel, with more shared memory.
GemmTraits traits(const Config& c) {
  GemmTraits result = gemm_sm90::traits(tile_config(c));
  result.shared_memory = shared_memory_bytes(c);
  return result;
}

/// A list as a single problem of its bounds: blocks walk over the others, which do not add to the grid.
GemmProblem bounds_of(const GemmListProblem& problem) {
  GemmProblem one = problem.gemm;
  one.batch = 1;
  one.a.matrix.batch_stride = 0;
  one.b.matrix.batch_stride = 0;
  return one;
}

class GemmListSm90 final : public GemmListFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const Config& c = config_of(config);
    GemmProfile result = gemm_sm90::profile(tile_config(c), device, false);
    result.traits = traits(c);
    result.lanes_tile = 0;  // each problem has lines of its own, which are not known here
    return result;
  }

  Status supports(const GemmProfile& kernel, const GemmListProblem& problem,
                  const DeviceModel& device) const override {
    const GemmProblem one = bounds_of(problem);
    if (Status status = check_leading(kernel.traits, problem); !status) return status;
    if (Status status = gemm_supports(kernel.traits, one, device); !status) return status;
    if (gemm_sm90::has_plain_strides(kernel.traits.layouts, one)) return {};
    return gemm_sm90::check_maps(kernel.traits.layouts, one);
  }

  Account account(const GemmProfile& kernel, const GemmListProblem& problem) const override {
    return list_account(problem, kernel.traits.tile,
                        [&](const GemmProblem& batch) { return gemm_sm90::account(kernel, batch, 0); });
  }

  std::size_t workspace(const void* config, const GemmListProblem& problem) const override {
    return reduction_workspace(traits(config_of(config)), problem) + map_bytes(problem);
  }

  void launch(const void* config, const GemmListProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const Config& c = config_of(config);
    const GemmTraits kernel = traits(c);
    const bool has_tiles = !is_empty(problem.gemm);
    if (!has_tiles && !problem.gemm.wide.has_lines()) return;
    const bool has_scales = kernel.scales != ScaleSupport::none;
    gemm_launch(kernel, problem.gemm, controls, launch,
                has_scales ? sizeof(ScaledListTensorGemmParams) : sizeof(Params));
    for (const Step& each : launch.steps)
      add_list(launch, problem, walked_tile(config), params_of<Params>(launch, each).list);
    if (!has_tiles) return;
    Step& making = launch.steps.at[0];
    auto& params = params_of<Params>(launch, making);
    params.makes_maps = true;
    gemm_sm90::add_map_models(tile_config(c), problem.gemm, params, launch);
    const std::size_t maps_at = launch.workspace_bytes;  // behind what reductions leave
    launch.workspace_bytes += map_bytes(problem);
    launch.parts.add({"tensor maps", maps_at, map_bytes(problem)});
    relocate(launch, params.maps, Operand::workspace, maps_at);
    if (has_scales)
      add_scales(launch, params_of<ScaledListTensorGemmParams>(launch, making).scales, problem.gemm);
    making.waits_for_earlier = true;
    making.blocks_walk = true;
    making.cluster = 1;
    const std::int64_t warps = threads(c) / 32;
    const std::int64_t blocks = (std::int64_t{problem.gemm.batch} * list_maps + warps - 1) / warps;
    making.grid = static_cast<unsigned>(std::min<std::int64_t>(blocks, controls.multiprocessors));
    add_multiplying(c, problem, controls, launch);
    // gemm_launch has added the step that finishes lines: it comes last.
    if (problem.gemm.wide.has_lines()) std::swap(launch.steps.at[1], launch.steps.at[2]);
  }

  Tile walked_tile(const void* config) const override { return cluster_tile(tile_config(config_of(config))); }

  GemmListParams params(const std::byte* image, const Step& step) const override {
    const auto& params = params_of<Params>(image, step);
    return {params.gemm, params.list};
  }

 private:
  /// Bytes of the tensor maps in the workspace.
  static std::size_t map_bytes(const GemmListProblem& problem) {
    if (is_empty(problem.gemm)) return 0;
    return rounded_to_workspace(static_cast<std::size_t>(problem.gemm.batch) * list_maps * sizeof(TensorMap));
  }

  /// The second step.
  static void add_multiplying(const Config& c, const GemmListProblem& problem, const ChosenControls& controls,
                              Launch& launch) {
    Step& step = repeat_step(launch, launch.steps.at[0]);
    params_of<Params>(launch, step).makes_maps = false;
    const Tile tile = cluster_tile(tile_config(c));
    const std::int64_t tiles = std::int64_t{tiles_along(problem.gemm.m, tile.m)} *
                               tiles_along(problem.gemm.n, tile.n) * problem.gemm.batch;
    step.cluster = static_cast<unsigned>(c.cluster.m * c.cluster.n);
    const std::int64_t at_once = gemm_sm90::clusters_at_once(step.cluster, controls.multiprocessors);
    step.grid = static_cast<unsigned>(std::clamp<std::int64_t>(at_once, 1, tiles)) * step.cluster;
  }
};

constinit const GemmListSm90 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_list_sm90
