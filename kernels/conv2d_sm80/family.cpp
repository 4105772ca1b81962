#include "conv2d/family.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "common/piece_map.hpp"
#include "conv2d/patches.hpp"
#include "conv2d/phases.hpp"
#include "conv2d_sm80/config.hpp"
#include "conv2d_sm80/gradients.hpp"
#include "gemm/estimate.hpp"
#include "gemm/expression_params.hpp"
#include "gemm/host.hpp"
#include "gemm_sm80/cost.hpp"

namespace quarry::conv2d_sm80 {
namespace {

static_assert(expression_is_last<Conv2dParams>);

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

/// K may be cut, but mostly only where the slices of a tile add up one after another: outputs are tensors,
/// which no reduction reads. Those of a wgrad with patches are matrices.
GemmTraits product_traits(const Config& c) {
  GemmTraits traits = gemm_sm80::traits(product(c));
  traits.cuts_in_parallel = brings_gradients(c);
  traits.iterator = c.iterator;
  traits.strides = c.strides;
  traits.filter = c.filter;
  traits.shared_memory = shared_memory_bytes(c);
  if (c.iterator == Iterator::window && !brings_gradients(c)) traits.most_k = window_memory(c).k;
  return traits;
}

// Instructions of a thread, estimated: to find a piece, to find what an index says. Not measured, except
// where a comment says so.

constexpr int find_instructions(Bounds bounds) {
  return bounds == Bounds::none ? 4 : bounds == Bounds::window ? 8 : 24;
}
constexpr int walk_instructions(const Gathering& g) {
  switch (walk(g)) {
    case Walk::by_tile: return 12;
    case Walk::by_piece: return 18;
    case Walk::one_tap: return 6;
    default: return g.iterator == Iterator::few_channels ? 14 : 30;
  }
}
/// What channels in groups of 32 add: fitted to the times of three kernels of s8 on eight problems on an
/// H100, whose K tiles take up to 1.7 times as long as with neighbouring channels.
constexpr int grouped_index = 64;
constexpr int index_instructions(const Gathering& g) {
  return walk_instructions(g) + (g.interleaved ? grouped_index : 0);
}
/// Of all warps, in a cycle of a multiprocessor.
constexpr int issued_per_clock = 4;

/// Cycles of a multiprocessor to find the pieces of a K tile.
double find_clocks(const OperandTile& tile, Bounds bounds, const Gathering& g, int threads) {
  const bool asynchronous = tile.alignment * tile.element_bytes >= 4;
  const int elements = asynchronous ? tile.alignment : tile.chunk_elements();
  const PieceMap map = piece_map(tile, elements, threads);
  const int singles = asynchronous ? 1 : elements;
  const int indices = (tile.k_contiguous ? map.column_rounds : map.line_rounds) * singles;
  const int instructions =
      map.pieces() * singles * find_instructions(bounds) + indices * index_instructions(g);
  return static_cast<double>(instructions) * threads / (32 * issued_per_clock);
}

/// Clocks in which a thread waits for an element that passes its registers: each is read behind the question
/// whether it exists, so they come one after another. From the times of two first layers on an H200.
constexpr int single_latency = 200;

/// Clocks in which a wgrad waits so in a K tile, where B alone comes in single elements. Kernels whose A
/// comes so, too, were not measured, and neither was conv2d_simt, with which they compete.
int single_clocks(const Config& c, const gemm_sm80::Config& code) {
  if (c.direction != Direction::wgrad || c.alignment.a == 1 || c.alignment.b > 1) return 0;
  const OperandTile tile = tile_b(code);
  if (tile.element_bytes >= 4) return 0;
  return single_latency * piece_map(tile, tile.chunk_elements(), threads(c)).pieces() * tile.chunk_elements();
}

/// By how much outputs of bytes take longer: they are converted, rounded and saturated one by one, and stored
/// in words of four. From the times of six kernels of s8 on eight problems on an H100, the shortest K of
/// which leaves little else: 1x1 filters of 256 channels took 51 us, where 27 were predicted.
constexpr double byte_epilogue = 2.75;

/// Words and instructions of lanes that a multiprocessor moves and issues in a clock.
constexpr int lanes_per_clock = 128;
/// Clocks of a step of 16 along K that only waits: for places, then for operands.
constexpr int window_step_latency = 60;
/// Instructions of a word of a patch, with what waits for it: more than PatchCosts counts, from the times of
/// three kernels on an H200.
constexpr int copied_word = 52;

/// Iterator::window: K tiles copy nothing. What tiles copy follows from the problem.
BlockCost window_cost(const Config& c, const DeviceModel& device) {
  const gemm_sm80::Config code = product(c);
  BlockCost cost = gemm_sm80::block_cost(code, device);
  const int read =
      c.tile.k * (bytes_of(c.types.a) * c.tile.m * c.warps.n + bytes_of(c.types.b) * c.tile.n * c.warps.m);
  cost.shared = read / device.rates.memory.shared_bytes_per_clock;
  cost.copy = 0;
  cost.latency = window_step_latency * (c.tile.k / step_k(code));
  cost.registers = device.registers_per_multiprocessor / (threads(c) * least_blocks(c));
  return cost;
}

/// The product's, and finding. Instructions are issued beside the matrix unit's, which take one turn
/// in many.
BlockCost cost(const Config& c, const DeviceModel& device) {
  if (brings_gradients(c)) return gradient_cost(c, device);
  if (c.iterator == Iterator::window) return window_cost(c, device);
  const gemm_sm80::Config code = product(c);
  BlockCost cost = gemm_sm80::block_cost(code, device);
  const Gathering g = gathering(c);
  cost.copy += find_clocks(tile_a(code), bounds_a(g), g, threads(c)) +
               find_clocks(tile_b(code), bounds_b(g), g, threads(c));
  cost.latency += single_clocks(c, code);
  return cost;
}

/// Pieces are channels of one pixel or tap, all of one group.
Status check_operand(const ProblemOperand& operand, Operand name, int channels, int needed) {
  const std::string number = std::to_string(needed);
  if (operand.alignment[static_cast<int>(Layout::row)] < needed) {
    return refused("Operand `" + std::string(to_string(name)) +
                   "` is misaligned: this kernel needs a pointer and strides that are multiples of " +
                   number + " elements");
  }
  if (channels % needed == 0) return {};
  return refused("Operand `" + std::string(to_string(name)) + "` has " + std::to_string(channels) +
                 " channels in a group: this kernel takes multiples of " + number);
}

Status check_operands(const GemmTraits& kernel, const Conv2dProblem& problem) {
  const GemmProblem& p = problem.product;
  const int channels = problem.windows.channels.size;
  const bool is_wgrad = problem.direction == Direction::wgrad;
  const bool is_dgrad = problem.direction == Direction::dgrad;
  if (Status s = check_operand(p.a, Operand::a, is_wgrad ? p.m : channels, kernel.alignment.a); !s) return s;
  return check_operand(p.b, Operand::b, is_dgrad ? p.n : channels, kernel.alignment.b);
}

/// Along one axis, what windows a kernel does not take.
Status check_axis(const GemmTraits& kernel, const WindowAxis& axis, const char* name) {
  const int most = kernel.strides == Strides::unity ? 1 : most_phases;
  if (kernel.strides != Strides::any && axis.stride.size > most) {
    return refused("The stride along the " + std::string(name) + " is " + std::to_string(axis.stride.size) +
                   ": this kernel takes strides up to " + std::to_string(most));
  }
  if (kernel.filter == Filter::one && (axis.taps.size != 1 || axis.padding != 0))
    return refused("This kernel takes filters of 1x1 without padding");
  return {};
}

/// Images of an fprop or a dgrad.
int images_of(const Conv2dProblem& problem) {
  const int pixels = problem.windows.rows.places.size * problem.windows.columns.places.size;
  return pixels == 0 ? 0 : problem.product.m / pixels;
}

/// The tiles of an fprop of Iterator::window. @pre the output is not empty
Patches patches_for(const GemmTraits& kernel, const Conv2dProblem& problem) {
  return patches_of(problem.windows, images_of(problem), problem.product.k > 0, kernel.tile.m,
                    most_patch(kernel.most_k) / 4);
}

/// Filters and patches that shared memory has room for.
Status check_patches(const GemmTraits& kernel, const Conv2dProblem& problem) {
  const Windows& w = problem.windows;
  if (problem.product.k == 0) return {};
  const std::int64_t pairs =
      std::int64_t{w.rows.taps.size} * w.columns.taps.size * channel_pairs(w.channels.size);
  if (2 * pairs > kernel.most_k) {
    return refused("A filter of a group has " + std::to_string(2 * pairs) +
                   " elements, where channels are even: this kernel takes at most " +
                   std::to_string(kernel.most_k));
  }
  if (is_empty(problem.product) || patches_for(kernel, problem).rows > 0) return {};
  return window_refusal(4 * patch_words(w, 1, 1), most_patch(kernel.most_k));
}

/// The epilogue reads a scale in whole quads of channels, which must not begin within one.
Status check_scale(const GemmProblem& product) {
  const bool varies = product.has_scale && product.epilogue.scale.column_stride != 0;
  if (!varies || product.batch <= 1 || product.n % 4 == 0) return {};
  return refused("A group has " + std::to_string(product.n) +
                 " channels of the output: this kernel takes a scale of several groups where these have "
                 "multiples of 4");
}

/// Tiles of Iterator::window are rectangles of outputs, which blocks share in one order.
Status check_order(const Controls& controls) {
  const auto refused_control = [](detail::ControlName name) {
    return Status(StatusCode::unsupported, Reason::control, Operand::none, 0, static_cast<int>(name));
  };
  if (controls.swizzle.value_or(1) != 1) return refused_control(detail::ControlName::swizzle);
  if (controls.raster == Raster::along_m) return refused_control(detail::ControlName::raster);
  return {};
}

Status check_windows(const GemmTraits& kernel, const Conv2dProblem& problem) {
  const Windows& windows = problem.windows;
  if (Status s = check_axis(kernel, windows.rows, "height"); !s) return s;
  if (Status s = check_axis(kernel, windows.columns, "width"); !s) return s;
  if (kernel.strides == Strides::strided) {  // a batch entry for each group of each phase
    const std::int64_t phases = std::int64_t{windows.rows.stride.size} * windows.columns.stride.size;
    const std::int64_t entries = phases * problem.product.batch;
    if (entries > grid_limit)
      return {StatusCode::unsupported, Reason::grid_limit, Operand::none, grid_limit, entries};
  }
  if (kernel.strides == Strides::strided || kernel.iterator == Iterator::window) {
    if (Status s = check_no_expression(problem); !s) return s;
  }
  if (brings_gradients(kernel, problem)) return check_gradients(kernel, problem);
  if (kernel.iterator == Iterator::window) {
    if (Status s = check_order(problem.product.controls); !s) return s;
    return check_patches(kernel, problem);
  }
  if (problem.product.k == 0) return {};
  const int channels = windows.channels.size;
  const std::string has = "A group has " + std::to_string(channels) + " channels along K: this kernel takes ";
  if (kernel.iterator == Iterator::optimized && channels % kernel.tile.k != 0)
    return refused(has + "multiples of " + std::to_string(kernel.tile.k));
  if (kernel.iterator == Iterator::fixed_channels && channels != kernel.alignment.a)
    return refused(has + "exactly " + std::to_string(kernel.alignment.a));
  return {};
}

/// The most that steps of `stride` find in `count`.
int most_steps(int count, int stride) { return count / stride + (count % stride != 0); }

/// Rows, and taps of a phase, of the largest one: the product that the grid of Strides::strided covers.
GemmProblem phased_product(const Conv2dProblem& problem) {
  const auto taps_of = [](const WindowAxis& axis) {
    return most_steps(axis.taps.size, axis.stride.size / gcd_of(axis.stride.size, axis.dilation));
  };
  const Windows& w = problem.windows;
  GemmProblem p = problem.product;
  if (is_empty(p)) return p;
  p.m = images_of(problem) * most_steps(w.rows.places.size, w.rows.stride.size) *
        most_steps(w.columns.places.size, w.columns.stride.size);
  if (p.k > 0) p.k = taps_of(w.rows) * taps_of(w.columns) * w.channels.size;
  p.batch *= w.rows.stride.size * w.columns.stride.size;
  return p;
}

Phases phases_of(const Conv2dProblem& problem) {
  const Windows& w = problem.windows;
  const bool has_sums = problem.product.k > 0;
  const auto along = [&](const WindowAxis& axis) {
    return phases_along(axis, axis.places.size, has_sums ? axis.taps.size : 0, w.flips);
  };
  return {along(w.rows), along(w.columns), images_of(problem), problem.product.batch};
}

/// The whole dgrad of a launch in phases.
Conv2dParams whole(const PhasedConv2dParams& phased) {
  Conv2dParams params = phased;
  const Windows& w = params.windows;
  params.m = phased.phases.images * w.rows.places.size * w.columns.places.size;
  params.batch = phased.phases.groups;
  if (params.k > 0) params.k = w.rows.taps.size * w.columns.taps.size * w.channels.size;
  return params;
}

GemmProblem covered_product(const GemmTraits& kernel, const Conv2dProblem& problem) {
  if (brings_gradients(kernel, problem)) return gradient_product(kernel, problem);
  return kernel.strides == Strides::strided ? phased_product(problem) : problem.product;
}

/// The product as the ranking sees it, with what of its matrices is read from memory once. Phases are taken
/// to be alike, unless the caller cuts K, which is the longest phase's.
GemmProblem ranked_product(const GemmTraits& kernel, const Conv2dProblem& problem) {
  GemmProblem p = covered_product(kernel, problem);
  if (kernel.strides == Strides::strided && p.k > 0 && !asks_for_cut(p.controls)) {
    const int phases = problem.windows.rows.stride.size * problem.windows.columns.stride.size;
    p.k = std::min(p.k, std::max(1, problem.product.k / phases));
  }
  float& repeats = problem.direction == Direction::wgrad ? p.repeats_b : p.repeats_a;
  repeats = window_repeats(problem.windows);
  return p;
}

/// The same of Iterator::window: rows of tiles, whether outputs or not, and K in whole steps.
GemmProblem window_product(const GemmTraits& kernel, const Conv2dProblem& problem, const Patches& patches) {
  GemmProblem p = ranked_product(kernel, problem);
  const std::int64_t rows = std::int64_t{patches.tiles} * kernel.tile.m;
  p.m = static_cast<int>(std::min<std::int64_t>(rows, std::numeric_limits<int>::max() - kernel.tile.m));
  p.k = (2 * patches.k_pairs + 15) / 16 * 16;
  return in_one_piece(p);
}

/// What ranking knows of a kernel of Iterator::window, with the copies of a tile of the problem.
GemmProfile with_patches(const GemmProfile& kernel, const Conv2dProblem& problem, const Patches& patches) {
  GemmProfile profile = kernel;
  const Tile& tile = kernel.traits.tile;
  if (problem.product.k == 0) return profile;
  const double words = patches.patch_rows * patches.words.size;
  const double copied = words * copied_word;
  profile.epilogue_tile *= 1 + copied / (static_cast<double>(tile.m) * tile.n * lanes_per_clock / 32);
  return profile;
}

/// The launch of Iterator::window: blocks that share the tiles, as many as run at once.
void launch_windows(const Config& c, const Conv2dProblem& problem, const ChosenControls& controls,
                    Launch& launch) {
  const GemmTraits traits = product_traits(c);
  gemm_launch(traits, problem.product, controls, launch, sizeof(WindowConv2dParams));
  if (launch.is_empty()) return;
  Step& step = *std::find_if(launch.steps.begin(), launch.steps.end(),
                             [](const Step& each) { return each.kind == Step::Kind::kernel; });
  auto& params = params_of<WindowConv2dParams>(launch, step);
  params.windows = problem.windows;
  params.patches = patches_for(traits, problem);
  const std::int64_t columns = std::int64_t{params.tiles_n} * params.batch;
  const std::int64_t at_once = std::int64_t{controls.multiprocessors} * least_blocks(c);
  const std::int64_t share =
      at_once <= 0 ? params.patches.tiles : std::max<std::int64_t>(1, at_once / columns);
  params.patches.blocks = static_cast<int>(std::min<std::int64_t>(params.patches.tiles, share));
  step.grid = static_cast<unsigned>(columns * params.patches.blocks);
}

class Conv2dSm80 final : public Conv2dFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    const Config& c = config_of(config);
    GemmProfile profile = gemm_profile(product_traits(c), cost(c, device), device);
    if (is_byte(c.types.out)) {
      profile.epilogue_tile *= byte_epilogue;
      profile.epilogue_byte *= byte_epilogue;
    }
    // Few outputs are the sums of very many products: as many slices as blocks run at once.
    if (brings_gradients(c)) profile.most_slices = profile.resident_on_device;
    return profile;
  }

  Status supports(const GemmProfile& kernel, const Conv2dProblem& problem,
                  const DeviceModel& device) const override {
    if (Status s = check_windows(kernel.traits, problem); !s) return s;
    if (Status s = check_scale(problem.product); !s) return s;
    GemmProblem p = covered_product(kernel.traits, problem);
    if (is_empty(p) || p.k == 0) {  // nothing is read
      p.a.alignment[0] = p.a.alignment[1] = p.b.alignment[0] = p.b.alignment[1] = 16;
    } else if (Status s = check_operands(kernel.traits, problem); !s) {
      return s;
    }
    return gemm_supports(kernel.traits, p, device);
  }

  Estimate estimate(const GemmProfile& kernel, const Conv2dProblem& problem,
                    std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    if (brings_gradients(kernel.traits, problem))
      return gemm_estimate(with_gradients(kernel, problem), ranked_product(kernel.traits, problem),
                           max_workspace);
    if (kernel.traits.iterator == Iterator::window) {
      const Patches patches = patches_for(kernel.traits, problem);
      return gemm_estimate(with_patches(kernel, problem, patches),
                           window_product(kernel.traits, problem, patches), max_workspace);
    }
    return gemm_estimate(kernel, ranked_product(kernel.traits, problem), max_workspace);
  }

  Account account(const GemmProfile& kernel, const Conv2dProblem& problem,
                  std::size_t max_workspace) const override {
    if (is_empty(problem.product)) return {};
    if (brings_gradients(kernel.traits, problem))
      return gemm_account(with_gradients(kernel, problem), ranked_product(kernel.traits, problem),
                          max_workspace);
    if (kernel.traits.iterator == Iterator::window) {
      const Patches patches = patches_for(kernel.traits, problem);
      return gemm_account(with_patches(kernel, problem, patches),
                          window_product(kernel.traits, problem, patches), max_workspace);
    }
    return gemm_account(kernel, ranked_product(kernel.traits, problem), max_workspace);
  }

  std::size_t workspace_size(const void* config, const Conv2dProblem& problem,
                             const ChosenControls& controls) const override {
    const GemmTraits traits = product_traits(config_of(config));
    return gemm_workspace(traits, covered_product(traits, problem), controls).bytes;
  }

  void launch(const void* config, const Conv2dProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const GemmTraits traits = product_traits(config_of(config));
    if (brings_gradients(traits, problem)) return launch_gradients(traits, problem, controls, launch);
    if (traits.iterator == Iterator::window)
      return launch_windows(config_of(config), problem, controls, launch);
    const bool has_phases = traits.strides == Strides::strided;
    const std::size_t bytes = has_phases ? sizeof(PhasedConv2dParams) : sizeof(Conv2dParams);
    gemm_launch(traits, covered_product(traits, problem), controls, launch, bytes);
    if (launch.is_empty()) return;
    auto& params = params_of<Conv2dParams>(launch, *kernel_step(launch));
    params.windows = problem.windows;
    if (problem.product.expressed) params.out = problem.out_matrix;
    if (has_phases) static_cast<PhasedConv2dParams&>(params).phases = phases_of(problem);
  }

  Conv2dParams host_params(const void* config, const Launch& launch, const std::byte* image) const override {
    if (brings_gradients(config_of(config)))
      return gradient_tensors(params_of<WindowConv2dParams>(image, *kernel_step(launch)));
    if (config_of(config).strides != Strides::strided)
      return params_of<Conv2dParams>(image, *kernel_step(launch));
    const auto& phased = params_of<PhasedConv2dParams>(image, *kernel_step(launch));
    return whole(phased);
  }
};

constinit const Conv2dSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::conv2d_sm80
