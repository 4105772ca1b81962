#include <algorithm>
#include <functional>

#include "common/config_parts.hpp"
#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/seed.hpp"
#include "lab/verify/draw.hpp"
#include "operations/gemm/lab/operation.hpp"

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

/// Extents that must be multiples of 32, as those of interleaved operands are.
struct Whole {
  bool m, n, k;
};
Whole whole_extents(const KernelMetadata& kernel) {
  const bool a = is_interleaved(kernel.operands.a.layout);
  const bool b = is_interleaved(kernel.operands.b.layout);
  const bool out = is_interleaved(kernel.operands.out.layout);
  return {a || out, b || out, a || b};
}

/// Where products of bytes are summed: an epilogue in whole numbers where it is computed in s32; otherwise an
/// alpha that brings the sums to where rounding, C and the bias show, within the range of a byte.
void fit_integers(Problem& problem) {
  if (problem.sums() != DType::s32) return;
  if (compute_type(problem.sums(), problem.out.dtype) == DType::s32) return make_whole(problem.epilogue);
  problem.epilogue.alpha *=
      alpha_of_byte_sums(problem.a.dtype, problem.b.dtype, problem.out.dtype, problem.k);
}

/// How tiles are walked. Few multiprocessors, so that persistent blocks have several tiles each.
void random_order(Problem& problem, Dice& dice) {
  constexpr int swizzles[] = {1, 2, 4, 8};
  problem.controls.swizzle = dice.one_of(swizzles);
  problem.controls.raster = dice.one_in(2) ? Raster::along_n : Raster::along_m;
  if (!dice.one_in(3)) problem.controls.multiprocessors = static_cast<int>(dice.between(1, 6));
  if (!problem.controls.mode && !dice.one_in(4)) problem.controls.mode = Mode::stream_k;
}

/// The way of cutting K that a kernel has in the place of one that it has not.
Mode permitted(Mode mode, const ModesMetadata& modes) {
  const auto has = [&modes](Mode one) {
    switch (one) {
      case Mode::split_k_serial: return modes.split_k_serial;
      case Mode::split_k_parallel: return modes.split_k_parallel;
      case Mode::split_k_cluster: return modes.split_k_cluster;
      case Mode::stream_k: return modes.stream_k;
      default: return true;
    }
  };
  for (const Mode one :
       {mode, Mode::split_k_cluster, Mode::split_k_serial, Mode::split_k_parallel, Mode::stream_k}) {
    if (has(one)) return one;
  }
  return Mode::gemm;
}

/// The least multiprocessors that a kernel can keep to; 0 where it keeps to no number.
int least_multiprocessors(const DesignMetadata& design) {
  if (!design.schedule || *design.schedule == Schedule::one_tile) return 0;
  return design.cluster ? design.cluster->m * design.cluster->n : 1;
}

/// Bytes are read one by one, or as words where they are so aligned: both are met.
int words_of_bytes(DType dtype, Dice& dice) { return is_byte(dtype) && dice.one_in(2) ? 4 : 1; }

/// The problem, stored as the kernel needs it, the output at least so aligned.
Problem stored_at_least(const Problem& problem, const KernelMetadata& kernel, int out_alignment,
                        std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  OutputStorage storage = output_storage(kernel, problem.out.dtype, dice);
  storage.out_alignment = std::max(storage.out_alignment, out_alignment);
  const OperandMetadata& a = kernel.operands.a;
  const OperandMetadata& b = kernel.operands.b;
  const int a_alignment = std::max(a.alignment, words_of_bytes(problem.a.dtype, dice));
  const int b_alignment = std::max(b.alignment, words_of_bytes(problem.b.dtype, dice));
  result.a = stored_at(problem.a.dtype, a.layout, a_alignment, problem.m, problem.k, dice);
  result.b = stored_at(problem.b.dtype, b.layout, b_alignment, problem.k, problem.n, dice);
  OutputSpec output = problem.output();
  store_output(storage, output, result.epilogue, dice);
  result.out = output.out;
  OperandSpec* const matrices[] = {&result.a, &result.b, &result.out};
  if (kernel.modes.array && problem.batch > 0 && dice.one_in(2))
    choose_arrays(matrices, result.epilogue, dice);
  return result;
}

/// What only some kernels are asked for beside: slices within a cluster, tiles along M first, blocks that
/// walk over several tiles.
Controls further_controls(const KernelMetadata& kernel, Controls controls, bool in_cluster,
                          std::uint64_t seed) {
  const auto draw = [&](std::uint64_t number, std::uint64_t sides) {
    return static_cast<int>(derived_seed(seed, number) % sides);
  };
  constexpr int most_in_cluster = 8;
  if (!kernel.design.schedule) return controls;
  if (kernel.modes.split_k_cluster && controls.split_k_slices && in_cluster) {
    controls.mode = Mode::split_k_cluster;
    controls.split_k_slices = std::min(*controls.split_k_slices, most_in_cluster);
  }
  controls.raster = draw(2, 2) == 0 ? Raster::along_n : Raster::along_m;
  const Cluster cluster = kernel.design.cluster.value_or(Cluster{});
  if (*kernel.design.schedule != Schedule::one_tile)
    controls.multiprocessors = cluster.m * cluster.n * (1 + draw(3, 3));
  return controls;
}

/// A short epilogue: alpha alone.
void make_plain(Problem& problem) {
  const double alpha = problem.epilogue.alpha;
  problem.epilogue = {};
  problem.epilogue.alpha = alpha != 0 ? alpha : problem.out.dtype == DType::s32 ? 2 : 0.5;
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
      .add_if(kernel.epilogue.activation, "activation")
      .add_if(kernel.epilogue.bias, "bias")
      .add_if(kernel.epilogue.fast_clamp, "fast_clamp")
      .add_if(whole.m, "whole_m")
      .add_if(whole.n, "whole_n")
      .add_if(whole.k, "whole_k");
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  KeyText text;
  for (const OperandMetadata* operand : {&o.a, &o.b, &o.c, &o.out})
    text.add(operand->layout).add(operand->alignment);
  return text.add_if(kernel.modes.array, "array");
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem{.a = {.dtype = operands.a.dtype},
                  .b = {.dtype = operands.b.dtype},
                  .out = {.dtype = operands.out.dtype},
                  .accumulator = operands.accumulator,
                  .math = kernel.design.math};
  switch (number % 3) {
    case 0: several_tiles(problem, dice); break;
    case 1: small_sizes(problem, dice); break;
    default: long_sums(problem, dice); break;
  }
  if (kernel.epilogue.fast_clamp && problem.k > fast_clamp_most_k)
    problem.k = fast_clamp_most_k - dice.between(0, 3);
  const Whole extents = whole_extents(kernel);
  if (extents.m) problem.m = whole(problem.m);
  if (extents.n) problem.n = whole(problem.n);
  if (extents.k) problem.k = whole(problem.k);
  if (problem.controls.mode == std::nullopt && dice.one_in(4)) problem.batch = dice.between(1, 2);
  random_order(problem, dice);
  const DType compute = compute_type(operands.accumulator, operands.out.dtype);
  draw_epilogue(kernel.epilogue, compute, operands.out.dtype, problem.epilogue, dice);
  fit_integers(problem);
  return problem;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  return stored_at_least(problem, kernel, 1, seed);
}

Controls Lab::controls_for(const KernelMetadata& kernel, const Problem& problem) {
  Controls controls = problem.controls;
  // With alpha 0 there is nothing to sum.
  const std::int64_t k = problem.epilogue.alpha == 0 ? 0 : problem.k;
  const std::int64_t k_tiles =
      std::max<std::int64_t>((k + kernel.design.tile.k - 1) / kernel.design.tile.k, 1);
  const int slices = static_cast<int>(std::min<std::int64_t>(controls.split_k_slices.value_or(1), k_tiles));
  if (controls.mode) controls.mode = permitted(*controls.mode, kernel.modes);
  const int least = least_multiprocessors(kernel.design);
  if (least == 0) controls.multiprocessors.reset();
  if (controls.multiprocessors) controls.multiprocessors = std::max(*controls.multiprocessors, least);
  if (controls.mode == Mode::stream_k) {
    controls.split_k_slices.reset();
    return controls;
  }
  if (slices < 2) controls.mode = Mode::gemm;
  if (controls.mode.value_or(Mode::gemm) == Mode::gemm) {
    controls.mode = Mode::gemm;
    controls.split_k_slices.reset();
  } else {
    controls.split_k_slices = slices;
  }
  return controls;
}

Problem Lab::emulated(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  constexpr std::int64_t round = 6;
  const bool second_half = number % round >= round / 2;
  Problem problem = random(kernel, seed, number);
  if (second_half) problem.batch = 2;
  if (problem.controls.mode)
    problem.controls.mode = second_half ? Mode::split_k_parallel : Mode::split_k_serial;
  // Kernels that know a short epilogue need an output as aligned as can be for it.
  const std::uint64_t drawn = derived_seed(seed, std::hash<std::string_view>()(kernel.name));
  const bool is_plain = drawn % (kernel.design.schedule ? 2 : 4) == 0;
  if (is_plain) make_plain(problem);
  problem = stored_at_least(problem, kernel, is_plain ? 16 / bytes_of(problem.out.dtype) : 1, seed);
  problem.controls = further_controls(kernel, controls_for(kernel, problem), !second_half, seed);
  return problem;
}

}  // namespace quarry::lab::gemm
