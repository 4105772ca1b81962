#include "conv2d_sm80/gradients.hpp"

#include <limits>

#include "gemm/host.hpp"
#include "gemm_sm80/cost.hpp"

namespace quarry::conv2d_sm80 {
namespace {

/// Tiles of outputs; none where nothing is read. @pre the output is not empty
Patches patches_for(const GemmTraits& kernel, const Conv2dProblem& problem) {
  const Windows& w = problem.windows;
  const int k = problem.product.k;
  if (k == 0) return {};
  const int images = k / (w.rows.places.size * w.columns.places.size);
  return patches_of(w, images, true, kernel.tile.k, most_gradient_patch / 2, w.channels.size);
}

/// Whether what lies between the elements of a tile of an image can be counted in 32 bits. @param rows,
/// columns of the tile
bool spans_little(const MatrixParams& tensor, int rows, int columns) {
  constexpr long long most = 1LL << 30;  // elements
  const auto is_little = [](long long stride, int count) { return stride < most / (2 * count); };
  return is_little(tensor.row_stride, rows) && is_little(tensor.column_stride, columns);
}

/// Whether the filters of a tensor are lines of a matrix.
bool is_matrix(const Windows& w, const MatrixParams& filters) {
  const long long row = static_cast<long long>(w.columns.taps.size) * w.channels.size;
  return (w.columns.taps.size <= 1 || filters.column_stride == w.channels.size) &&
         (w.rows.taps.size <= 1 || filters.row_stride == row);
}

/// Instructions of a warp for a step of a wgrad with patches: of each 8 columns, which are gathered, and
/// beside that. Counted in the source of the kernel.
constexpr int gathered_columns = 12;
constexpr int gradient_step = 12;
/// Shared loads of a warp for 8 columns of a step.
constexpr int gathering_loads = 4;
/// Instructions of an element of a patch, with what waits for it: from the times of five first layers on an
/// H200. And clocks in which a block waits for the pixels of a tile: less than there, so that these kernels
/// come before others with small images, whose waiting nobody measured.
constexpr int copied_element = 52;
constexpr int patch_latency = 1500;

/// Instructions that a multiprocessor issues in a clock, each for a warp, and so many lanes.
constexpr int issued_per_clock = 4;
constexpr int lanes_per_clock = 32 * issued_per_clock;
/// Clocks of a step that only waits: for places, then for operands.
constexpr int step_latency = 60;

/// Seconds of a clock: the sums of a tile pass shared memory once, in 4 bytes each.
double clock_seconds(const GemmProfile& kernel) {
  const Tile& tile = kernel.traits.tile;
  const double clocks = 4.0 * tile.m * tile.n / kernel.rates->memory.shared_bytes_per_clock;
  return kernel.epilogue_tile / (clocks * kernel.rates->calibration.mma.epilogue);
}

}  // namespace

Status window_refusal(long long bytes, int most) {
  return refused("A window spans " + std::to_string(bytes) +
                 " bytes of an image: this kernel takes at most " + std::to_string(most));
}

Status check_gradients(const GemmTraits& kernel, const Conv2dProblem& problem) {
  const GemmProblem& p = problem.product;
  if (is_empty(p)) return {};
  const Windows& w = problem.windows;
  const auto no_matrix = [](const char* name) {
    return refused("Operand `" + std::string(name) +
                   "` is no matrix: this kernel needs filters whose elements follow one another");
  };
  if (!is_matrix(w, p.out.matrix)) return no_matrix("out");
  if (p.has_c && !is_matrix(w, p.c.matrix)) return no_matrix("c");
  if (p.has_residual && !is_matrix(w, p.epilogue.residual)) return no_matrix("residual");
  if (p.has_aux && !is_matrix(w, p.epilogue.aux)) return no_matrix("aux");
  if (p.k == 0) return {};
  const Patches patches = patches_for(kernel, problem);
  if (patches.rows == 0)
    return window_refusal(2 * patch_pixels(w, 1, 1) * w.channels.size, most_gradient_patch);
  if (!spans_little(p.a.matrix, patches.rows, patches.columns) ||
      !spans_little(p.b.matrix, patches.patch_rows, patches.words.size / patches.pairs.size))
    return refused("Outputs of a tile lie 2^30 elements apart or more: this kernel counts them in 32 bits");
  const std::int64_t k = std::int64_t{patches.tiles} * kernel.tile.k;
  if (k <= std::numeric_limits<int>::max() - kernel.tile.k) return {};
  return refused("There are too many outputs for this kernel, which counts them in tiles of " +
                 std::to_string(kernel.tile.k));
}

GemmProblem gradient_product(const GemmTraits& kernel, const Conv2dProblem& problem) {
  GemmProblem p = problem.product;
  const auto matrix = [&](MatrixParams& m) { m = {m.data, m.batch_stride, 1, p.m * m.batch_stride}; };
  matrix(p.out.matrix);
  if (p.has_c) matrix(p.c.matrix);
  if (p.has_residual) matrix(p.epilogue.residual);
  if (p.has_aux) matrix(p.epilogue.aux);
  if (!is_empty(p)) p.k = patches_for(kernel, problem).tiles * kernel.tile.k;
  return p;
}

BlockCost gradient_cost(const Config& c, const DeviceModel& device) {
  const gemm_sm80::Config code = product(c);
  BlockCost cost = gemm_sm80::block_cost(code, device);
  const int steps = c.tile.k / step_k(code);
  const int eights = c.tile.n / 8 * c.warps.m;  // columns that warps gather, in eights
  const int products = c.tile.m / 16 * c.tile.n / 8;
  const double a_bytes = c.tile.k * bytes_of(c.types.a) * c.tile.m * (1.0 + c.warps.n);
  cost.shared = steps * eights * gathering_loads + a_bytes / device.rates.memory.shared_bytes_per_clock;
  const double issued = static_cast<double>(steps) *
                        (eights * gathered_columns + products + c.warps.m * c.warps.n * gradient_step) /
                        issued_per_clock;
  const double copied =
      c.tile.k * c.tile.m * bytes_of(c.types.a) * device.rates.memory.thread_copies.clocks_per_byte;
  cost.copy = copied + cost.shared + issued;  // the blocks that stand side by side are too few to hide it
  cost.latency = patch_latency + step_latency * (steps / c.warps.k);
  cost.registers = device.registers_per_multiprocessor / (threads(c) * least_blocks(c));
  return cost;
}

GemmProfile with_gradients(const GemmProfile& kernel, const Conv2dProblem& problem) {
  GemmProfile profile = kernel;
  if (problem.product.k == 0) return profile;
  const Patches patches = patches_for(kernel.traits, problem);
  const double elements = patches.patch_rows * patches.words.size;
  profile.memory += kernel.rates->calibration.mma.copies * clock_seconds(kernel) * elements * copied_element /
                    lanes_per_clock;
  return profile;
}

void launch_gradients(const GemmTraits& kernel, const Conv2dProblem& problem, const ChosenControls& controls,
                      Launch& launch) {
  gemm_launch(kernel, gradient_product(kernel, problem), controls, launch, sizeof(WindowConv2dParams));
  if (launch.is_empty()) return;
  auto& params = params_of<WindowConv2dParams>(launch, *kernel_step(launch));
  params.windows = problem.windows;
  params.patches = patches_for(kernel, problem);
}

Conv2dParams gradient_tensors(const WindowConv2dParams& gradients) {
  Conv2dParams params = gradients;
  const Windows& w = params.windows;
  const Patches& p = gradients.patches;
  const auto tensor = [&](MatrixParams& m) {
    m = {m.data, static_cast<long long>(w.columns.taps.size) * w.channels.size, w.channels.size,
         m.row_stride};
  };
  for (MatrixParams* m : {&params.out, &params.c, &params.epilogue.residual, &params.epilogue.aux})
    tensor(*m);
  if (params.k > 0)
    params.k =
        p.tiles / (p.tiles_down.size * p.tiles_across.size) * w.rows.places.size * w.columns.places.size;
  params.mode = Mode::gemm;
  params.slices = 1;
  return params;
}

}  // namespace quarry::conv2d_sm80
