#include "lab/verify/problems.hpp"

#include <algorithm>
#include <cmath>

#include "common/config_parts.hpp"
#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"

namespace quarry::lab {
namespace {

/// More than one tile of most kernels along M and N, hardly ever a multiple of one.
void several_tiles(Problem& problem, Dice& dice) {
  problem.m = dice.between(129, 330);
  problem.n = dice.between(129, 330);
  problem.k = dice.between(33, 200);
}

/// Around and below one tile; nothing at all now and then.
void small_sizes(Problem& problem, Dice& dice) {
  constexpr int sizes[] = {1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 63, 65, 70};
  problem.m = dice.one_of(sizes);
  problem.n = dice.one_of(sizes);
  problem.k = dice.one_in(16) ? 0 : dice.one_of(sizes);
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

/// The next multiple of what interleaved layouts keep together.
std::int64_t whole(std::int64_t extent) { return (extent + interleave - 1) / interleave * interleave; }

void random_epilogue(const ResultKey& key, Problem& problem, Dice& dice) {
  constexpr double alphas[] = {1, 1, 0.5, -1.25};
  constexpr double betas[] = {0, 0, 1, -0.75};
  problem.alpha = dice.one_in(20) ? 0 : dice.one_of(alphas);
  if (dice.one_in(6)) return;  // nothing else, for which epilogues have a short way
  problem.beta = dice.one_of(betas);
  problem.in_place = problem.beta != 0 && dice.one_in(3);
  const auto activation = static_cast<Activation>(dice.between(0, static_cast<int>(Activation::gelu_tanh)));
  const BiasAxis axis = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
  if (key.activation && !dice.one_in(3)) problem.activation = activation;
  if (key.bias && dice.one_in(2)) problem.bias = axis;
  if (problem.activation == Activation::leaky_relu) problem.slope = 0.25F;
}

/// A reduction: as many slices as there may be, of one to several blocks, to a batch now and then.
void slices_to_add(Problem& problem, Dice& dice) {
  problem.operation = Operation::reduce_split_k;
  constexpr int slices[] = {1, 2, 2, 3, 5, 8, 17};
  problem.k = dice.one_of(slices);
  if (dice.one_in(4)) problem.batch = dice.between(1, 3);
}

/// What only some epilogues have: half of the problems, as kernels know shorter ways for the others. Operands
/// are stored by `stored`.
void random_extras(const ResultKey& key, Problem& problem, Dice& dice) {
  if (dice.one_in(2)) return;
  const DType compute = compute_type(key.accumulator, key.out);
  const auto axis = static_cast<ScaleAxis>(dice.between(0, 2));
  if (dice.one_in(2) && compute != DType::s32) problem.scale = axis;
  if (dice.one_in(2)) {
    problem.residual_in_place = dice.one_in(3);
    if (!problem.residual_in_place) problem.residual.emplace();
  }
  if (dice.one_in(2)) problem.aux.emplace();
  const double unit = compute == DType::s32 ? 1 << 20 : is_byte(key.out) ? 64 : 1;
  if (dice.one_in(2)) problem.clamp.low = -0.5 * unit;
  if (dice.one_in(2)) problem.clamp.high = 0.75 * unit;
}

/// Where products of bytes are summed: an epilogue in whole numbers where it is computed in s32; otherwise an
/// alpha that brings the sums to where rounding, C and the bias show, within the range of a byte.
void fit_integers(const ResultKey& key, Problem& problem) {
  if (key.accumulator != DType::s32) return;
  if (compute_type(key.accumulator, key.out) == DType::s32) {
    problem.alpha = std::round(3 * problem.alpha);
    problem.beta = std::round(3 * problem.beta);
    if (problem.activation > Activation::relu) problem.activation = Activation::relu;
    return;
  }
  if (problem.operation == Operation::gemm) {
    problem.alpha *= alpha_of_byte_sums(key.a, key.b, key.out, problem.k);
  } else if (is_byte(key.out)) {
    problem.alpha *= 0x1p-25;  // of sums of all sizes
  }
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

/// An operand at exactly this alignment: its leading dimension is an odd multiple, with padding.
OperandSpec store(DType dtype, Layout layout, int alignment, std::int64_t rows, std::int64_t columns,
                  Dice& dice) {
  const bool by_rows = has_contiguous_rows(layout) != is_interleaved(layout);
  const std::int64_t unit = is_interleaved(layout) ? interleave : 1;
  const std::int64_t along = std::max<std::int64_t>((by_rows ? columns : rows) * unit, 1);
  std::int64_t units = (along + alignment - 1) / alignment + dice.between(0, 2);
  if (units % 2 == 0) ++units;
  return {.dtype = dtype, .layout = layout, .ld = units * alignment, .alignment = alignment};
}

/// Makes arrays of pointers of some operands, of those that are not interleaved.
void choose_arrays(Problem& problem, Dice& dice) {
  const auto choose = [&dice](OperandSpec& operand) {
    const bool array = dice.one_in(2);
    operand.array = array && !is_interleaved(operand.layout);
  };
  for (OperandSpec* operand : {&problem.a, &problem.b, &problem.out}) choose(*operand);
  for (std::optional<OperandSpec>* operand : {&problem.c, &problem.residual, &problem.aux}) {
    if (*operand) choose(**operand);
  }
}

/// Bytes are read one by one, or as words where they are so aligned: both are met.
int words_of_bytes(DType dtype, Dice& dice) { return is_byte(dtype) && dice.one_in(2) ? 4 : 1; }

}  // namespace

ResultKey result_key(const KernelMetadata& kernel) {
  const OperandsMetadata& operands = kernel.operands;
  const bool a = is_interleaved(operands.a.layout);
  const bool b = is_interleaved(operands.b.layout);
  const bool out = is_interleaved(operands.out.layout);
  return {operands.a.dtype,
          operands.b.dtype,
          operands.accumulator,
          operands.out.dtype,
          kernel.design.math,
          kernel.epilogue.activation,
          kernel.epilogue.bias,
          kernel.epilogue.fast_clamp,
          kernel.operation,
          a || out,
          b || out,
          a || b};
}

StorageKey storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& operands = kernel.operands;
  return {operands.a.layout,    operands.b.layout,      operands.c.layout,
          operands.out.layout,  operands.a.alignment,   operands.b.alignment,
          operands.c.alignment, operands.out.alignment, kernel.modes.array};
}

Problem random_problem(const ResultKey& key, std::uint64_t seed, std::int64_t number) {
  Dice dice(seed);
  Problem problem{};
  const bool reduces = key.operation == Operation::reduce_split_k;
  problem.a.dtype = reduces ? key.accumulator : key.a;
  problem.b.dtype = key.b;
  problem.out.dtype = key.out;
  problem.accumulator = key.accumulator;
  problem.math = key.math;
  switch (number % 3) {
    case 0: several_tiles(problem, dice); break;
    case 1: small_sizes(problem, dice); break;
    default: long_sums(problem, dice); break;
  }
  if (key.fast_clamp && problem.k > fast_clamp_most_k) problem.k = fast_clamp_most_k - dice.between(0, 3);
  if (key.whole_m) problem.m = whole(problem.m);
  if (key.whole_n) problem.n = whole(problem.n);
  if (key.whole_k) problem.k = whole(problem.k);
  if (problem.controls.mode == std::nullopt && dice.one_in(4)) problem.batch = dice.between(1, 2);
  if (reduces) slices_to_add(problem, dice);
  random_order(problem, dice);
  random_epilogue(key, problem, dice);
  random_extras(key, problem, dice);
  fit_integers(key, problem);
  return problem;
}

Problem stored(const Problem& problem, const StorageKey& key, std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  // The output's own need is mostly 1, and wider stores are a path of their own: both are met.
  const int wide = dice.one_in(2) ? 16 / quarry::bytes_of(problem.out.dtype) : 1;
  const int out_alignment = std::max(key.out_alignment, wide);
  const int c_alignment = std::max(key.c_alignment, wide);
  const int a_alignment = std::max(key.a_alignment, words_of_bytes(problem.a.dtype, dice));
  const int b_alignment = std::max(key.b_alignment, words_of_bytes(problem.b.dtype, dice));
  if (problem.operation == Operation::gemm) {
    result.a = store(problem.a.dtype, key.a, a_alignment, problem.m, problem.k, dice);
    result.b = store(problem.b.dtype, key.b, b_alignment, problem.k, problem.n, dice);
  } else {
    result.a.alignment = dice.one_in(2) ? 1 : 4;  // packed
  }
  result.out = store(problem.out.dtype, key.out, std::max(out_alignment, problem.in_place ? c_alignment : 1),
                     problem.m, problem.n, dice);
  if (problem.beta != 0 && !problem.in_place) {
    result.c = store(problem.out.dtype, key.c, c_alignment, problem.m, problem.n, dice);
  }
  for (std::optional<OperandSpec>* extra : {&result.residual, &result.aux}) {
    if (!*extra) continue;
    const bool other = dice.one_in(4) && !is_interleaved(key.out);
    const Layout layout = other ? transposed(key.out) : key.out;
    *extra = store(problem.out.dtype, layout, wide, problem.m, problem.n, dice);
  }
  if (key.arrays && problem.batch > 0 && dice.one_in(2)) choose_arrays(result, dice);
  return result;
}

Controls controls_for(const KernelMetadata& kernel, const Problem& problem) {
  if (problem.operation != Operation::gemm) return {};
  Controls controls = problem.controls;
  // With alpha 0 there is nothing to sum.
  const std::int64_t k = problem.alpha == 0 ? 0 : problem.k;
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

}  // namespace quarry::lab
