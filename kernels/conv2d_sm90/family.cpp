#include "conv2d/family.hpp"

#include <algorithm>

#include "conv2d_sm90/config.hpp"
#include "conv2d_sm90/tensors.hpp"
#include "gemm/host.hpp"
#include "gemm_sm90/estimate.hpp"
#include "gemm_sm90/launch.hpp"
#include "gemm_sm90/tensor_maps.hpp"

namespace quarry::conv2d_sm90 {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// The product as the ranking sees it: its A has lines as the tensor has them, and windows overlap.
GemmProblem ranked_product(const GemmProfile& kernel, const Conv2dProblem& problem) {
  GemmProblem p = matrix_product(problem, kernel.traits.tile.k);
  const auto lines = [](MatrixParams& m, long long stride, Layout layout) {
    m = layout == Layout::row ? MatrixParams{m.data, stride, 1, 0} : MatrixParams{m.data, 1, stride, 0};
  };
  lines(p.a.matrix, p.a.matrix.column_stride, kernel.traits.layouts.a);
  lines(p.b.matrix, p.b.matrix.column_stride, kernel.traits.layouts.b);
  float& repeats = problem.direction == Direction::wgrad ? p.repeats_b : p.repeats_a;
  repeats = window_repeats(problem.windows);
  return p;
}

/// Clocks of the copy engine for a pixel of a window, of up to 128 bytes: from the times of wgrad's kernels
/// on an H200, of which those with narrow lines of channels took the longest.
constexpr double pixel_clocks = 4.5;

/// Pixels that a block loads for a K tile.
int pixels_of(const Config& c) {
  const gemm_sm90::Config code = product(c);
  const gemm_sm90::OperandBox box =
      c.direction == Direction::wgrad ? gemm_sm90::box_b(code) : gemm_sm90::box_a(code);
  return box.panels() * box.part_lines();
}

class Conv2dSm90 final : public Conv2dFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const Config& c = config_of(config);
    GemmProfile profile = gemm_sm90::profile(product(c), device);
    // Blocks of a multiprocessor share the engine, as they share the tensor cores.
    profile.math = std::max(profile.math, pixel_clocks * pixels_of(c) / device.clock);
    // Gradients of filters are few outputs, each the sum over all positions.
    if (c.direction == Direction::wgrad) profile.most_slices = 128;
    return profile;
  }

  Status supports(const GemmProfile& kernel, const Conv2dProblem& problem,
                  const DeviceModel& device) const override {
    // Blocks side by side in a cluster have whole lines of 64, so that all of the cluster tells the same.
    if (Status s = check_tensors(problem, kernel.traits.tile); !s) return s;
    if (is_empty(problem.product)) return {};
    GemmProblem p = matrix_product(problem, kernel.traits.tile.k);
    if (p.k == 0) p.a.alignment[0] = p.a.alignment[1] = p.b.alignment[0] = p.b.alignment[1] = 16;
    if (Status s = gemm_supports(kernel.traits, p, device); !s) return s;
    const std::int64_t blocks = gemm_blocks(kernel.traits, p, 1) * kernel.traits.cluster;
    if (blocks <= grid_limit) return {};
    return {StatusCode::unsupported, Reason::grid_limit, Operand::none, grid_limit, blocks};
  }

  Estimate estimate(const GemmProfile& kernel, const Conv2dProblem& problem,
                    std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    return gemm_sm90::estimate(kernel, ranked_product(kernel, problem), max_workspace);
  }

  Account account(const GemmProfile& kernel, const Conv2dProblem& problem,
                  std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    return gemm_sm90::account(kernel, ranked_product(kernel, problem), max_workspace);
  }

  std::size_t workspace_size(const void* config, const Conv2dProblem& problem,
                             const ChosenControls& controls) const override {
    const Config& c = config_of(config);
    if (is_empty(problem.product)) return 0;
    return gemm_workspace(gemm_sm90::traits(product(c)), matrix_product(problem, c.tile.k), controls).bytes;
  }

  void launch(const void* config, const Conv2dProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const Config& c = config_of(config);
    if (is_empty(problem.product)) return;
    const gemm_sm90::Config code = product(c);
    const GemmProblem p = matrix_product(problem, c.tile.k);
    TensorGemmParams* const begun =
        gemm_sm90::begin_launch(code, p, controls, sizeof(TensorConv2dParams), launch);
    auto& params = static_cast<TensorConv2dParams&>(*begun);
    params.windows = problem.windows;
    if (p.k > 0) add_tensor_maps(c, problem, params, launch);
    gemm_sm90::add_output_maps(code, p, params, launch);
  }

  Conv2dParams host_params(const void* config, const Launch& launch, const std::byte* image) const override {
    const auto& params = params_of<TensorConv2dParams>(image, *kernel_step(launch));
    return tensor_product(config_of(config).direction, params);
  }
};

constinit const Conv2dSm90 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::conv2d_sm90
