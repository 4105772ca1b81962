#include <algorithm>
#include <cmath>

#include "common/config_parts.hpp"
#include "gemm/params.hpp"
#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/kernel_controls.hpp"
#include "lab/problems/seed.hpp"
#include "lab/verify/draw.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/operation.hpp"
#include "operations/gemm/lab/paths.hpp"

namespace quarry::lab::gemm {
namespace {

/// More than one tile of most kernels along M and N, hardly ever a multiple of one.
void several_tiles(Problem& problem, Dice& dice) {
  problem.m = dice.between(129, 330);
  problem.n = dice.between(129, 330);
  problem.k = dice.between(33, 200);
}

/// Around and below one tile; nothing at all now and then.
void small_sizes(Problem& problem, Dice& dice) {
  problem.m = small_size(dice);
  problem.n = small_size(dice);
  problem.k = dice.one_in(16) ? 0 : small_size(dice);
}

/// Few tiles with long sums, in slices where the kernel can.
void long_sums(Problem& problem, Dice& dice) {
  problem.m = dice.between(17, 140);
  problem.n = dice.between(17, 140);
  problem.k = dice.between(200, 700);
  problem.batch = dice.one_in(3) ? dice.between(1, 3) : 0;
  problem.controls.mode = dice.one_in(2) ? Mode::split_k_serial : Mode::split_k_parallel;
  problem.controls.split_k_slices = static_cast<int>(dice.between(2, 7));
}

/// Extents that must be multiples of 32, as in interleaved operands.
struct Whole {
  bool m, n, k;
};
Whole whole_extents(const KernelMetadata& kernel) {
  const bool a = is_interleaved(kernel.operands.a.layout);
  const bool b = is_interleaved(kernel.operands.b.layout);
  const bool out = is_interleaved(kernel.operands.out.layout);
  return {a || out, b || out, a || b};
}

/// Whole bytes beside floating-point numbers count as if they were below 2, so that C and the bias show
/// beside the sums.
void fit_weights(Problem& problem) {
  for (const OperandSpec* operand : {&problem.a, &problem.b}) {
    if (is_byte(operand->dtype)) problem.epilogue.alpha *= 0x1p-6;
  }
}

/// Where products of bytes are summed: an epilogue in whole numbers where it is computed in s32; otherwise an
/// alpha that brings the sums to where rounding, C and the bias show, within the range of a byte. For whole
/// outputs it is a power of two: products are exact then, so that ties are ties whoever computes them.
void fit_integers(Problem& problem) {
  if (problem.sums() != DType::s32) return fit_weights(problem);
  if (problem.compute() == DType::s32) return make_whole(problem.epilogue);
  problem.epilogue.alpha *=
      alpha_of_byte_sums(problem.a.dtype, problem.b.dtype, problem.out.dtype, problem.k);
  double& alpha = problem.epilogue.alpha;
  if (is_integer(problem.out.dtype) && alpha != 0)
    alpha = std::copysign(std::exp2(std::floor(std::log2(std::abs(alpha)))), alpha);
}

/// How tiles are walked. Few multiprocessors, so that persistent blocks have several tiles each. Where
/// nothing says how sums are cut, it may be by stream-K.
void random_order(Problem& problem, Dice& dice) {
  constexpr int swizzles[] = {1, 2, 4, 8};
  problem.controls.swizzle = dice.one_of(swizzles);
  problem.controls.raster = dice.one_in(2) ? Raster::along_n : Raster::along_m;
  if (!dice.one_in(3) && !problem.controls.multiprocessors)
    problem.controls.multiprocessors = static_cast<int>(dice.between(1, 6));
  if (!problem.controls.mode && !dice.one_in(4)) problem.controls.mode = Mode::stream_k;
}

/// Bytes are read one by one, or as words where they are so aligned: both are met.
int words_of_bytes(DType dtype, Dice& dice) {
  if (is_half_byte(dtype)) return 2;  // lines begin at whole bytes
  return is_byte(dtype) && dice.one_in(2) ? 4 : 1;
}

/// Scales of A or B or both, of any granularity that the kernel takes. Half of the problems are long enough
/// for several blocks.
void draw_scales(ScaleSupport kernel, Problem& problem, Dice& dice) {
  using enum ScaleGranularity;
  constexpr ScaleGranularity of_a[] = {tensor, row, block_1x128, block_1x32, block_1x64};
  constexpr ScaleGranularity of_b[] = {tensor, column, block_1x128, block_128x128, block_1x32, block_1x64};
  const bool has_groups = takes_groups(kernel);
  const bool has_blocks = takes_blocks(kernel);
  const bool has_zeros = kernel == ScaleSupport::zero_points;  // which need scales of B
  const std::int64_t which = dice.between(0, has_zeros ? 1 : 3);
  if (which != 1) problem.a_scale = of_a[dice.between(0, has_groups ? 4 : has_blocks ? 2 : 1)];
  if (which != 2) problem.b_scale = of_b[dice.between(0, has_groups ? 5 : has_blocks ? 3 : 1)];
  if (has_blocks && problem.k > 0 && dice.one_in(2)) problem.k += scale_block;
}

/// A problem of all parts at random, of one of three kinds of sizes.
void draw_mixed(std::int64_t number, const KernelMetadata& kernel, Problem& problem, Dice& dice) {
  switch (number % 3) {
    case 0: several_tiles(problem, dice); break;
    case 1: small_sizes(problem, dice); break;
    default: long_sums(problem, dice); break;
  }
  if (problem.controls.mode == std::nullopt && dice.one_in(4)) problem.batch = dice.between(1, 2);
  draw_epilogue(kernel.epilogue, problem.compute(), problem.out.dtype, problem.epilogue, dice);
}

/// Problem `number`: of a path, or behind these a mixed one. @param tile that paths draw sizes around
Problem drawn(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number, const Extent3& tile) {
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem{.a = {.dtype = operands.a.dtype},
                  .b = {.dtype = operands.b.dtype},
                  .out = {.dtype = operands.out.dtype},
                  .accumulator = operands.accumulator,
                  .math = kernel.design.math};
  if (number < path_count())
    draw_path(number, kernel, tile, problem, dice);
  else
    draw_mixed(number - path_count(), kernel, problem, dice);
  if (kernel.epilogue.fast_clamp && problem.k > fast_clamp_most_k)
    problem.k = fast_clamp_most_k - dice.between(0, 3);
  const ScaleSupport scales = kernel.operands.scales;
  const bool may_promote = scales == ScaleSupport::block_scales && is_fp8(operands.a.dtype);
  if (may_promote && !problem.expression && dice.one_in(4)) problem.accumulation = Accumulation::precise;
  const bool is_unscaled =
      may_lack_scales(kernel) && (number < path_count() ? !draws_scales(number) : dice.one_in(4));
  const bool needs_scales =
      scales != ScaleSupport::none && problem.accumulation == Accumulation::fast && !is_unscaled;
  if (needs_scales && !problem.a_scale && !problem.b_scale) draw_scales(scales, problem, dice);
  problem.b_zero = scales == ScaleSupport::zero_points;
  const Whole extents = whole_extents(kernel);
  if (extents.m) problem.m = whole(problem.m);
  if (extents.n) problem.n = whole(problem.n);
  if (extents.k) problem.k = whole(problem.k);
  random_order(problem, dice);
  if (!problem.expression) fit_integers(problem);
  return problem;
}

/// Whether slices of K begin at multiples of more than 128.
bool has_long_tiles(const KernelMetadata& kernel) { return kernel.design.tile.k > 128; }

/// What blocks that walk over several tiles are asked for beside.
Controls further_controls(const KernelMetadata& kernel, Controls controls, std::uint64_t seed) {
  const bool has_number = controls.mode == Mode::stream_k && controls.multiprocessors;
  if (has_number || !kernel.design.schedule || *kernel.design.schedule == Schedule::one_tile) return controls;
  const Cluster cluster = kernel.design.cluster.value_or(Cluster{});
  controls.multiprocessors = cluster.m * cluster.n * (1 + static_cast<int>(derived_seed(seed, 3) % 3));
  return controls;
}

}  // namespace

std::string Lab::result_key(const KernelMetadata& kernel) {
  const OperandsMetadata& operands = kernel.operands;
  const Whole whole = whole_extents(kernel);
  return KeyText()
      .add(operands.a.dtype)
      .add(operands.b.dtype)
      .add(operands.accumulator)
      .add(operands.out.dtype)
      .add(to_string(kernel.design.math))
      .add(operands.out.layout)
      .add_if(kernel.epilogue.activation, "activation")
      .add_if(kernel.epilogue.bias, "bias")
      .add_if(kernel.epilogue.fast_clamp, "fast_clamp")
      .add_if(kernel.operands.scales != ScaleSupport::none, to_string(kernel.operands.scales))
      .add_if(whole.m, "whole_m")
      .add_if(whole.n, "whole_n")
      .add_if(whole.k, "whole_k")
      .add_if(has_long_tiles(kernel), "long_tiles");
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  KeyText text;
  for (const OperandMetadata* operand : {&o.a, &o.b, &o.c, &o.out})
    text.add(operand->layout).add(operand->alignment);
  return text.add_if(kernel.modes.array, "array");
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  const Extent3 largest_tile = {
      256, 256, has_long_tiles(kernel) ? 512 : 128};  // more than twice 128 are two tiles of 256
  return drawn(kernel, seed, number, largest_tile);
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  const bool is_asked = problem.out.alignment > 0;
  const auto store = [&](OperandSpec& operand, const OperandMetadata& needed, std::int64_t rows,
                         std::int64_t columns) {
    const int alignment = std::max(needed.alignment, words_of_bytes(operand.dtype, dice));
    const bool array = operand.array;
    operand = stored_at(operand.dtype, needed.layout, alignment, rows, columns, dice);
    operand.array = array && !is_interleaved(needed.layout);
  };
  store(result.a, kernel.operands.a, problem.m, problem.k);
  store(result.b, kernel.operands.b, problem.k, problem.n);
  OutputSpec output = problem.output();
  store_output(kernel, output, result.epilogue, dice);
  result.out = output.out;
  OperandSpec* const matrices[] = {&result.a, &result.b, &result.out};
  if (!is_asked && kernel.modes.array && problem.batch > 0 && dice.one_in(2))
    choose_arrays(matrices, result.epilogue, dice);
  return result;
}

Controls Lab::controls_for(const KernelMetadata& kernel, const Problem& problem) {
  const Controls& controls = problem.controls;
  ModesMetadata modes = kernel.modes;
  if (problem.expression && detail::is_wide(*problem.expression))
    modes.split_k_parallel = modes.split_k_cluster = false;
  // With alpha 0 there is nothing to sum.
  const std::int64_t k = problem.epilogue.alpha == 0 ? 0 : problem.k;
  const std::int64_t k_tiles =
      std::max<std::int64_t>((k + kernel.design.tile.k - 1) / kernel.design.tile.k, 1);
  return fitted_controls(controls, modes, kernel.design, k_tiles);
}

Problem Lab::emulated(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Problem problem = stored(drawn(kernel, seed, number, kernel.design.tile), kernel, seed);
  problem.controls = further_controls(kernel, controls_for(kernel, problem), seed);
  return problem;
}

}  // namespace quarry::lab::gemm
