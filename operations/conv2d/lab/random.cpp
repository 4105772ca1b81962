#include <algorithm>
#include <cmath>
#include <numeric>

#include "lab/problems/byte_sums.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/kernel_controls.hpp"
#include "lab/verify/draw.hpp"
#include "operations/conv2d/lab/controls.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "operations/conv2d/lab/paths.hpp"
#include "operations/conv2d/lab/takes.hpp"

namespace quarry::lab::conv2d {
namespace {
/// Channels come in multiples of this: where copies walk over pixels, lines of wgrad's columns are all of one
/// tap.
std::int64_t walked_lines(const KernelMetadata& kernel) {
  if (!walks(kernel) || kernel.direction != Direction::wgrad) return 1;
  return std::gcd(64, kernel.design.tile.n);
}

/// Makes of a problem one that kernels take whose copies walk over pixels.
void fit_walk(const KernelMetadata& kernel, Problem& p, Dice& dice) {
  const std::int64_t lines = walked_lines(kernel);  // channels of wgrad come in multiples of it
  const std::int64_t most = most_step(kernel);
  p.groups = 1;
  if (p.direction == Direction::wgrad) p.c = lines * dice.between(1, 128 / lines);
  p.stride = {std::min(p.stride.height, most), std::min(p.stride.width, most)};
}

/// Elements along K that shared memory has room for, in kernels that bring all pixels of a tile at once.
std::int64_t most_filter(const KernelMetadata& kernel) {
  return std::int64_t{kernel.design.stages.value_or(1)} * kernel.design.tile.k;
}

/// Makes of a problem one whose windows have few pixels.
void fit_gradient_patches(Problem& p) {
  constexpr std::int64_t most_pairs = 18 * 1024 / 4;
  const auto span = [&] { return (p.dilation.height * (p.r - 1) + 1) * (p.dilation.width * (p.s - 1) + 1); };
  p.r = std::min<std::int64_t>(p.r, 11), p.s = std::min<std::int64_t>(p.s, 11);
  while (span() > most_pairs) p.dilation = {1, 1};
  p.c = p.groups * std::min(p.c / p.groups, most_pairs / span() * 2);
}

/// Makes of a problem one whose filters are small enough, with an even number of channels.
void fit_patches(const KernelMetadata& kernel, Problem& p) {
  if (p.direction == Direction::wgrad) return fit_gradient_patches(p);
  const std::int64_t most = most_filter(kernel);
  p.r = std::min<std::int64_t>(p.r, 11), p.s = std::min<std::int64_t>(p.s, 11);
  while (p.r * p.s * 2 > most) (p.r > p.s ? p.r : p.s) -= 1;
  const std::int64_t channels = p.c / p.groups;
  const std::int64_t most_channels = most / (p.r * p.s) / 2 * 2;
  p.c = p.groups * std::min(channels, most_channels);
}

/// Makes of a problem one that kernels take which know strides, filters or channels beforehand.
void fit_windows(const KernelMetadata& kernel, Problem& p) {
  const DesignMetadata& design = kernel.design;
  const std::int64_t most_stride = design.strides == WindowStrides::unity     ? 1
                                   : design.strides == WindowStrides::strided ? 8
                                                                              : p.h + p.w + 8;
  p.stride = {std::min(p.stride.height, most_stride), std::min(p.stride.width, most_stride)};
  if (design.filter == WindowFilter::one) {
    p.r = p.s = 1;
    p.padding = {0, 0};
  }
  std::int64_t& along_k = p.direction == Direction::fprop ? p.c : p.k;
  if (design.iterator == WindowIterator::window) return fit_patches(kernel, p);
  if (design.iterator == WindowIterator::fixed_channels) along_k = p.groups * kernel.operands.a.alignment;
  if (design.iterator != WindowIterator::optimized) return;
  const std::int64_t unit = p.groups * design.tile.k;
  along_k = (along_k + unit - 1) / unit * unit;
}

/// Makes of a problem one that kernels take that copy channels in pieces.
void fit_pieces(const KernelMetadata& kernel, Problem& p) {
  const auto fitted = [&](std::int64_t channels, int a, int b) {
    const std::int64_t unit = p.groups * std::max(a, b);
    return (channels + unit - 1) / unit * unit;
  };
  const int a = kernel.operands.a.alignment;
  const bool a_has_channels = p.direction == Direction::fprop;
  p.c = fitted(p.c, a_has_channels ? a : 1, kernel.operands.b.alignment);
  p.k = fitted(p.k, a_has_channels ? 1 : a, 1);
}

/// Makes of a problem one whose channels and filters come in groups of 32.
void fit_channel_groups(Problem& p) {
  p.interleaved = true;
  p.groups = 1;
  p.c = whole(p.c);
  p.k = whole(p.k);
}

/// A text that is the same for kernels which take the same strides, filters and channels.
std::string windows_text(const DesignMetadata& design) {
  std::string text;
  if (design.iterator == WindowIterator::fixed_channels) text += "fixed ";
  if (design.iterator == WindowIterator::window)
    text += "patches of " + std::to_string(design.stages.value_or(1) * design.tile.k) + " ";
  if (design.iterator == WindowIterator::optimized) text += "tiles of " + std::to_string(design.tile.k) + " ";
  if (design.strides) text += std::string(to_string(*design.strides)) + " ";
  if (design.filter) text += std::string(to_string(*design.filter));
  return text;
}

/// Makes of a problem one that the kernel takes.
void fit(const KernelMetadata& kernel, Problem& p, Dice& dice) {
  if (has_channel_groups(kernel)) fit_channel_groups(p);
  if (walks(kernel)) return fit_walk(kernel, p, dice);
  fit_windows(kernel, p);
  fit_pieces(kernel, p);
}

/// Makes a scale of groups that the kernel does not take one value for all.
void fit_scale(const KernelMetadata& kernel, Problem& p) {
  const bool has_whole_quads = p.groups == 1 || p.out_extents()[3] / p.groups % 4 == 0;
  if (p.epilogue.scale && !has_whole_quads && !scales_any_groups(kernel))
    p.epilogue.scale = ScaleAxis::tensor;
}

/// Sums of bytes: an epilogue in whole numbers where it is computed in s32; otherwise an alpha that brings
/// them to where rounding, C and the bias show. For whole outputs it is a power of two, so that ties are ties
/// whoever computes them.
void fit_integers(Problem& p) {
  if (p.sums() != DType::s32) return;
  if (p.compute() == DType::s32) return make_whole(p.epilogue);
  double& alpha = p.epilogue.alpha;
  alpha *= alpha_of_byte_sums(p.a.dtype, p.b.dtype, p.out.dtype, p.terms());
  if (is_integer(p.out.dtype) && alpha != 0)
    alpha = std::copysign(std::exp2(std::floor(std::log2(std::abs(alpha)))), alpha);
}

/// An epilogue of what convolutions take.
void draw_taken_epilogue(const KernelMetadata& kernel, Problem& p, Dice& dice) {
  EpilogueSpec& e = p.epilogue;
  draw_epilogue(kernel.epilogue, p.compute(), p.out.dtype, e, dice);
  if (!kernel.epilogue.scale) e.scale.reset();
  if (!kernel.epilogue.residual) e.residual.reset(), e.residual_in_place = false;
  if (!kernel.epilogue.aux) e.aux.reset();
  if (e.bias) e.bias = BiasAxis::column;
  if (e.scale == ScaleAxis::row) e.scale = ScaleAxis::column;
}

/// Slices of K and an order of tiles, as far as kernels have them.
void draw_order(Controls& controls, Dice& dice) {
  constexpr Mode cuts[] = {Mode::split_k_serial, Mode::split_k_parallel, Mode::split_k_cluster};
  constexpr int swizzles[] = {1, 2, 4, 8};
  if (dice.one_in(2)) controls.mode = dice.one_of(cuts);
  if (controls.mode) controls.split_k_slices = static_cast<int>(dice.between(2, 7));
  if (dice.one_in(2)) controls.swizzle = dice.one_of(swizzles);
  if (dice.one_in(2)) controls.raster = dice.one_in(2) ? Raster::along_n : Raster::along_m;
  if (dice.one_in(4)) controls.multiprocessors = static_cast<int>(dice.between(1, 6));
}

/// Channels at a distance that is an odd multiple of an alignment. @param is_packed only the pointer is
/// aligned
void store(OperandSpec& spec, std::int64_t channels, bool is_packed, Dice& dice) {
  if (spec.alignment == 0) spec.alignment = dice.one_in(2) ? 1 : wide_alignment(spec.dtype);
  if (is_packed) return;
  const std::int64_t unit = spec.alignment;
  std::int64_t units = (std::max<std::int64_t>(channels, 1) + unit - 1) / unit + dice.between(0, 1);
  if (units % 2 == 0) ++units;
  spec.ld = units * unit;
}

}  // namespace

void draw_windows(double most, Problem& p, Dice& dice) {
  constexpr std::int64_t filters[] = {1, 1, 2, 3, 3, 3, 4, 5, 7, 11};
  constexpr std::int64_t groups[] = {1, 1, 1, 1, 2, 3, 5};
  do {
    p.r = dice.one_of(filters), p.s = dice.one_in(3) ? dice.one_of(filters) : p.r;
    p.groups = dice.one_of(groups);
    const bool depthwise = dice.one_in(8);
    const std::int64_t channels = depthwise        ? 1
                                  : dice.one_in(3) ? dice.between(1, 40)
                                                   : 4 * dice.between(1, 9);
    if (depthwise) p.groups = dice.between(1, 24);
    p.c = p.groups * channels;
    p.k = p.groups * (depthwise ? dice.between(1, 2) : dice.between(1, 40));
    p.n = dice.one_in(24) ? 0 : dice.between(1, 3);
    p.h = dice.between(1, 14), p.w = dice.between(1, 14);
    p.dilation = {dice.one_in(3) ? dice.between(2, 3) : 1, dice.one_in(3) ? dice.between(2, 3) : 1};
    p.stride = {dice.one_in(2) ? dice.between(2, 4) : 1, dice.one_in(2) ? dice.between(2, 4) : 1};
    if (dice.one_in(12)) p.stride = {p.h + 3, p.w + 1};  // past the image
    p.padding = {dice.one_in(3) ? 0 : dice.between(1, p.r + 2),
                 dice.one_in(3) ? 0 : dice.between(1, p.s + 2)};
    // As much as a filter needs that is larger than the image.
    const auto least = [](std::int64_t taps, std::int64_t dilation, std::int64_t image) {
      return std::max<std::int64_t>(0, (dilation * (taps - 1) + 2 - image) / 2);
    };
    p.padding.height = std::max(p.padding.height, least(p.r, p.dilation.height, p.h));
    p.padding.width = std::max(p.padding.width, least(p.s, p.dilation.width, p.w));
    p.flips = dice.one_in(5);
  } while (Lab::flops(p) > 2 * most);
}

std::string Lab::result_key(const KernelMetadata& kernel) {
  const OperandsMetadata& operands = kernel.operands;
  return KeyText()
      .add(to_string(kernel.direction.value_or(Direction::fprop)))
      .add(operands.a.dtype)
      .add(operands.b.dtype)
      .add(operands.accumulator)
      .add(operands.out.dtype)
      .add(to_string(kernel.design.math))
      .add_if(kernel.epilogue.activation, "activation")
      .add_if(kernel.epilogue.bias, "bias")
      .add_if(takes_scale(kernel), "scale")
      .add_if(scales_any_groups(kernel), "of any groups")
      .add_if(takes_residual(kernel), "residual")
      .add_if(takes_aux(kernel), "aux")
      .add_if(walks(kernel), "walks")
      .add_if(writes_matrix(kernel), "matrix")
      .add_if(has_channel_groups(kernel), "groups of channels")
      .add(walked_lines(kernel))
      .add(windows_text(kernel.design))
      .add(std::int64_t{operands.a.alignment})
      .add(std::int64_t{operands.b.alignment});
}

std::string Lab::storage_key(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  return KeyText()
      .add(std::int64_t{o.a.alignment})
      .add(std::int64_t{o.b.alignment})
      .add_if(has_channel_groups(kernel), "groups of channels");
}

Problem Lab::random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
  constexpr double most_products = 3e6;
  Dice dice(seed);
  const OperandsMetadata& operands = kernel.operands;
  Problem problem{.direction = kernel.direction.value_or(Direction::fprop),
                  .a = {.dtype = operands.a.dtype},
                  .b = {.dtype = operands.b.dtype},
                  .out = {.dtype = operands.out.dtype},
                  .accumulator = operands.accumulator,
                  .math = kernel.design.math};
  if (number < path_count()) {
    draw_path(number, problem, dice);
  } else {
    do {
      draw_windows(most_products, problem, dice);
      fit(kernel, problem, dice);
    } while (flops(problem) > 8 * most_products);
    if (takes_expressions(kernel) && dice.one_in(6)) {
      draw_expression(problem, dice);
    } else {
      draw_taken_epilogue(kernel, problem, dice);
    }
    draw_order(problem.controls, dice);
  }
  fit(kernel, problem, dice);
  fit_scale(kernel, problem);
  if (!problem.expression) fit_integers(problem);
  return problem;
}

Controls Lab::controls_for(const KernelMetadata& kernel, const Problem& problem) {
  const std::int64_t k_tiles = least_k_tiles(kernel, arguments(problem));
  Controls controls = fitted_controls(problem.controls, kernel.modes, kernel.design, k_tiles);
  if (has_one_order(kernel)) controls.swizzle.reset(), controls.raster.reset();
  return controls;
}

Problem Lab::stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
  Dice dice(seed);
  Problem result = problem;
  const std::int64_t channels = result.out_extents()[3];
  // Copies of pixels need aligned positions, and a matrix of filters that is written.
  // With an expression, every output is one of the product's matrices.
  const bool is_dense =
      writes_matrix(kernel) || (problem.expression && problem.direction == Direction::wgrad);
  if (walks(kernel) && !kernel.design.reorders) {
    result.a.alignment = wide_alignment(result.a.dtype);
    result.b.alignment = wide_alignment(result.b.dtype);
  }
  const auto fit = [](OperandSpec& spec, int alignment) {
    if (alignment > 1) spec.alignment = std::max(spec.alignment, alignment);
  };
  fit(result.a, kernel.operands.a.alignment);
  fit(result.b, kernel.operands.b.alignment);
  const bool is_packed = result.interleaved;
  store(result.a, result.a_extents()[3], is_packed, dice);
  store(result.b, result.b_extents()[3], is_packed, dice);
  if (!is_dense) store(result.out, channels, is_packed, dice);
  EpilogueSpec& e = result.epilogue;
  const auto store_beside = [&](std::optional<OperandSpec>& spec) {
    const int alignment = spec ? spec->alignment : 0;  // what a path asks for
    spec = OperandSpec{.dtype = result.out.dtype, .alignment = alignment};
    if (!is_dense) store(*spec, channels, is_packed, dice);
  };
  if (e.beta != 0 && !e.in_place) store_beside(e.c);
  if (e.residual) store_beside(e.residual);
  if (e.aux) store_beside(e.aux);
  return result;
}

}  // namespace quarry::lab::conv2d
