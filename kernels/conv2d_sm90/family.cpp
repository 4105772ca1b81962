#include "conv2d/family.hpp"

#include <algorithm>

#include "common/long_slices.hpp"
#include "conv2d_sm90/config.hpp"
#include "conv2d_sm90/phases.hpp"
#include "conv2d_sm90/reordered.hpp"
#include "conv2d_sm90/tensors.hpp"
#include "gemm/expression_params.hpp"
#include "gemm/host.hpp"
#include "gemm_sm90/clusters.hpp"
#include "gemm_sm90/estimate.hpp"
#include "gemm_sm90/launch.hpp"
#include "gemm_sm90/tensor_maps.hpp"

namespace quarry::conv2d_sm90 {
namespace {

static_assert(expression_is_last<TensorConv2dParams>);

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// What gemm_sm90 says of the product, and which windows the kernel takes. Outputs of phases are tensors,
/// which no reduction reads.
GemmTraits product_traits(const Config& c) {
  GemmTraits traits = gemm_sm90::traits(product(c));
  traits.strides = c.strides;
  if (is_phased(c)) traits.cuts_in_parallel = false;
  return traits;
}

bool in_phases(const GemmTraits& kernel, const Conv2dProblem& problem) {
  return problem.direction == Direction::dgrad && kernel.strides == WindowStrides::strided;
}

/// A tap's channels in whole K tiles.
int padded_channels(const Conv2dProblem& problem, int tile_k) {
  return tiles_along(problem.windows.channels.size, tile_k) * tile_k;
}

/// The product that the grid covers. @pre it is not empty
GemmProblem covered_product(const GemmTraits& kernel, const Conv2dProblem& problem) {
  if (!in_phases(kernel, problem)) return matrix_product(problem, kernel.tile.k);
  return phased_product(problem, padded_channels(problem, kernel.tile.k));
}

/// The product as the ranking sees it: its A has lines as the tensor has them, and windows overlap.
GemmProblem ranked_product(const GemmProfile& kernel, const Conv2dProblem& problem) {
  const GemmTraits& traits = kernel.traits;
  const bool phased = in_phases(traits, problem);
  // Slices are of the longest phase.
  const bool by_mean = phased && !asks_for_cut(problem.product.controls);
  GemmProblem p = by_mean ? mean_phase(problem, padded_channels(problem, traits.tile.k))
                          : covered_product(traits, problem);
  const auto lines = [](MatrixParams& m, long long stride, Layout layout) {
    m = layout == Layout::row ? MatrixParams{m.data, stride, 1, 0} : MatrixParams{m.data, 1, stride, 0};
  };
  lines(p.a.matrix, p.a.matrix.column_stride, kernel.traits.layouts.a);
  lines(p.b.matrix, p.b.matrix.column_stride, kernel.traits.layouts.b);
  float& repeats = problem.direction == Direction::wgrad ? p.repeats_b : p.repeats_a;
  repeats = window_repeats(problem.windows);
  if (phased) {  // a stride leaves out most taps
    const Windows& w = problem.windows;
    repeats = std::max(1.0F, repeats / static_cast<float>(w.rows.stride.size * w.columns.stride.size));
  }
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

/// Whether slices of a kernel may have two lengths (LongSliceList).
bool lengthens_slices(const Config& c) {
  return c.direction == Direction::wgrad && c.schedule != Schedule::one_tile;
}

/// Lets slices have two lengths where that is better.
void lengthen_slices(const gemm_sm90::Config& code, const Step& step, TensorConv2dParams& params) {
  GemmParams& gemm = params.gemm;
  if (gemm.mode != Mode::split_k_parallel || gemm.batch != 1 || gemm.k == 0) return;
  const auto tiles = static_cast<unsigned>(gemm.tiles_m) * static_cast<unsigned>(gemm.tiles_n);
  const unsigned blocks = step.grid / gemm_sm90::blocks_of_cluster(code);
  const auto cut = cut_in_two_lengths(tiles, tiles_along(gemm.k, code.tile.k), blocks, gemm.slices);
  if (!long_slices_pay(cut)) return;
  params.longs = cut.longs;
  gemm.k_tiles_per_slice = cut.short_k_tiles;
}

/// Seconds of the copies of a problem: to launch them, and to move their bytes.
struct CopySeconds {
  double launch;
  double memory;
};

/// Each copy costs what it costs alone (reorder_matrix), except that the copy behind the kernel reads from L2
/// what of the output is still there. On an H100, s8 256x14x14x256 by 256x3x3: 3 x 3.3 us for three copies
/// and 14.4 us for 52.6 MB, 12.8 MB of them from L2, so 24.3 us, where 21.6 to 26 were measured.
CopySeconds seconds_of(const ReorderCost& cost, const GemmProfile& kernel) {
  const DeviceRates& rates = *kernel.rates;
  const double from_l2 = std::min(cost.just_written, rates.memory.kept_operand_bytes);
  // The factor of wgmma says nothing of copies.
  const double byte = kernel.memory_byte / rates.calibration.wgmma.memory / rates.memory.copy_share;
  return {cost.copies * rates.launch.copy, (cost.moved - from_l2) * byte};
}

class Conv2dSm90 final : public Conv2dFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const Config& c = config_of(config);
    GemmProfile profile = gemm_sm90::profile(product(c), device, !is_phased(c));
    profile.traits = product_traits(c);
    // Blocks of a multiprocessor share the engine, as they share the tensor cores.
    profile.math = std::max(profile.math, pixel_clocks * pixels_of(c) / device.clock);
    // Lanes store what lies apart: taken to cost what other epilogues beyond the plain one do.
    if (is_phased(c)) profile.epilogue_tile += profile.general_tile;
    // Gradients of filters are few outputs, each the sum over all positions.
    if (c.direction == Direction::wgrad) {
      profile.most_slices = 128;
      profile.most_rounds = 4;
      profile.lengthens_slices = lengthens_slices(c);
    }
    return profile;
  }

  Status supports(const GemmProfile& kernel, const Conv2dProblem& problem,
                  const DeviceModel& device) const override {
    if (problem.interleaved && !is_empty(problem.product))
      return supports(kernel, with_neighbours(problem), device);
    // Blocks side by side in a cluster have whole lines of 64, so that all of the cluster tells the same.
    const bool phased = in_phases(kernel.traits, problem);
    if (phased) {
      if (Status s = check_no_expression(problem); !s) return s;
    }
    if (Status s = check_tensors(problem, kernel.traits.tile, phased); !s) return s;
    if (is_empty(problem.product)) return {};
    GemmProblem p = covered_product(kernel.traits, problem);
    if (p.k == 0) p.a.alignment[0] = p.a.alignment[1] = p.b.alignment[0] = p.b.alignment[1] = 16;
    if (Status s = gemm_supports(kernel.traits, p, device); !s) return s;
    if (Status s = gemm_sm90::check_controls(kernel.traits, p.controls); !s) return s;
    const int slices = p.controls.split_k_slices.value_or(1);
    const std::int64_t blocks = gemm_blocks(kernel.traits, p, slices) * kernel.traits.cluster;
    if (blocks <= grid_limit) return {};
    return {StatusCode::unsupported, Reason::grid_limit, Operand::none, grid_limit, blocks};
  }

  Estimate estimate(const GemmProfile& kernel, const Conv2dProblem& problem,
                    std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    if (problem.interleaved) {
      const ReorderCost cost = reorder_cost(problem);
      const CopySeconds copies = seconds_of(cost, kernel);
      Estimate result = estimate(kernel, with_neighbours(problem), max_workspace);
      result.seconds += copies.launch + copies.memory;
      result.workspace += cost.workspace;
      return result;
    }
    return gemm_sm90::estimate(kernel, ranked_product(kernel, problem), max_workspace);
  }

  Account account(const GemmProfile& kernel, const Conv2dProblem& problem,
                  std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    if (problem.interleaved) {
      const CopySeconds copies = seconds_of(reorder_cost(problem), kernel);
      Account result = account(kernel, with_neighbours(problem), max_workspace);
      result[TimePart::launch] += copies.launch;
      result[TimePart::memory] += copies.memory;
      result.seconds += copies.launch + copies.memory;
      return result;
    }
    return gemm_sm90::account(kernel, ranked_product(kernel, problem), max_workspace);
  }

  std::size_t workspace_size(const void* config, const Conv2dProblem& problem,
                             const ChosenControls& controls) const override {
    const Config& c = config_of(config);
    if (is_empty(problem.product)) return 0;
    if (problem.interleaved) return reorder_cost(problem).workspace;
    const GemmTraits traits = product_traits(c);
    return gemm_workspace(traits, covered_product(traits, problem), controls).bytes;
  }

  void launch(const void* config, const Conv2dProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const Config& c = config_of(config);
    if (is_empty(problem.product)) return;
    if (problem.interleaved) {
      launch_alone(c, with_neighbours(problem), controls, launch);
      add_reorders(problem, launch);
    } else {
      launch_alone(c, problem, controls, launch);
    }
  }

  Conv2dParams host_params(const void* config, const Launch& launch, const std::byte* image) const override {
    const Config& c = config_of(config);
    const Step& step = *kernel_step(launch);
    if (is_phased(c)) return whole_product(params_of<PhasedTensorConv2dParams>(image, step));
    const Conv2dParams params = tensor_product(c.direction, params_of<TensorConv2dParams>(image, step));
    return has_reorders(launch) ? with_groups(launch, image, params) : params;
  }

 private:
  /// Fills a launch of the kernel, for tensors with neighbouring channels.
  static void launch_alone(const Config& c, const Conv2dProblem& problem, const ChosenControls& controls,
                           Launch& launch) {
    const gemm_sm90::Config code = product(c);
    const GemmProblem p = covered_product(product_traits(c), problem);
    const std::size_t bytes = is_phased(c) ? sizeof(PhasedTensorConv2dParams) : sizeof(TensorConv2dParams);
    TensorGemmParams* const begun = gemm_sm90::begin_launch(code, p, controls, bytes, launch);
    auto& params = static_cast<TensorConv2dParams&>(*begun);
    params.windows = problem.windows;
    if (lengthens_slices(c)) lengthen_slices(code, *kernel_step(launch), params);
    if (p.k > 0) add_tensor_maps(c, problem, params, launch);
    if (is_phased(c)) {
      add_phases(problem, static_cast<PhasedTensorConv2dParams&>(params));
      gemm_sm90::add_scattered_output(code, p, params, launch);
    } else {
      gemm_sm90::add_output_maps(code, p, params, launch);
    }
  }
};

constinit const Conv2dSm90 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::conv2d_sm90
