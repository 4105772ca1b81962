#include "operations/conv2d/lab/paths.hpp"

#include <iterator>
#include <vector>

#include "lab/problems/kernel_controls.hpp"
#include "lab/verify/draw.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/conv2d/lab/takes.hpp"

namespace quarry::lab::conv2d {
namespace {

bool every_kernel(const KernelMetadata&) { return true; }
bool takes_bias(const KernelMetadata& kernel) { return kernel.epilogue.bias; }
bool takes_tensors(const KernelMetadata& kernel) { return takes_residual(kernel) && takes_aux(kernel); }
/// Kernels that copy channels in pieces: of A's and of B's, so many in a group come in multiples of this.
bool is_pieced(const KernelMetadata& kernel) {
  return kernel.operands.a.alignment > 1 || kernel.operands.b.alignment > 1;
}
bool takes_odd_groups(const KernelMetadata& kernel) { return takes_groups(kernel) && takes_bias(kernel); }
bool takes_anything(const KernelMetadata& kernel) { return takes_groups(kernel) && !is_pieced(kernel); }
bool takes_steps(const KernelMetadata& kernel) { return !walks(kernel) || most_step(kernel) > 1; }
bool takes_odd_channels(const KernelMetadata& kernel) {
  if (has_channel_groups(kernel)) return false;
  return walks(kernel) ? kernel.direction != Direction::wgrad : !is_pieced(kernel);
}
/// Kernels whose filters may have more than one tap; others know no padding.
bool has_taps(const KernelMetadata& kernel) { return kernel.design.filter != WindowFilter::one; }
/// Kernels of bytes whose neighbours along K are channels.
bool has_words(const KernelMetadata& kernel) {
  return is_byte(kernel.operands.a.dtype) && kernel.direction != Direction::wgrad;
}

bool brings_patches_beside_bias(const KernelMetadata& kernel) {
  return brings_patches(kernel) && takes_bias(kernel);
}

/// Outputs and filters that are whole tiles, in whole quads.
void draw_whole_tiles(Problem& p, Dice& dice) {
  p.h = p.w = 16, p.c = dice.between(1, 4), p.k = 64;
  p.out.alignment = wide_alignment(p.out.dtype);
  p.padding = {1, 1};
}

/// Groups of odd numbers of channels and filters.
void draw_odd_groups(Problem& p, Dice& dice) {
  p.groups = 2;
  p.c = 2 * (2 * dice.between(1, 3) + 1), p.k = 2 * (2 * dice.between(4, 9) + 1);
}

/// 3x3 windows over small images; some more than a tile of channels.
void draw_plain_windows(Problem& p, Dice& dice) {
  p.n = dice.between(1, 3), p.h = dice.between(5, 9), p.w = dice.between(5, 9);
  p.c = 8 * dice.between(1, 3), p.k = 8 * dice.between(1, 10);
  p.r = 3, p.s = 3;
}

/// C in memory of its own.
void draw_c(Problem& p, Dice& dice) {
  p.epilogue.beta = dice.one_in(2) ? 1 : -0.75;
  p.epilogue.c.emplace();
}

void draw_activation(Problem& p, Dice& dice) {
  p.epilogue.activation = static_cast<Activation>(dice.between(1, static_cast<int>(Activation::gelu_tanh)));
  if (p.epilogue.activation == Activation::leaky_relu) p.epilogue.slope = 0.25F;
}

void draw_clamp(Problem& p) {
  const double unit = output_unit(p.compute(), p.out.dtype);
  p.epilogue.clamp = {-0.5 * unit, 0.75 * unit};
}

void draw_scale(Problem& p, Dice&) { p.epilogue.scale = ScaleAxis::column; }

void draw_residual(Problem& p, Dice& dice) {
  draw_activation(p, dice);
  p.epilogue.residual.emplace();
}

/// With an activation, so that it is not the output once more.
void draw_aux(Problem& p, Dice& dice) {
  draw_activation(p, dice);
  p.epilogue.aux.emplace();
}

/// All tensors of the output's extents, with strides: a dgrad may come in phases.
void draw_all_tensors(Problem& p, Dice& dice) {
  p.stride = {2, dice.between(1, 2)};
  p.padding = {1, 1};
  draw_c(p, dice);
  draw_residual(p, dice);
  p.epilogue.aux.emplace();
  draw_clamp(p);
}

/// Whether K may be long: it is not where a kernel knows the channels beforehand.
bool has_long_k(const KernelMetadata& kernel) {
  return kernel.design.iterator != WindowIterator::fixed_channels;
}
bool cuts_serially(const KernelMetadata& kernel) { return kernel.modes.split_k_serial && has_long_k(kernel); }
bool cuts_in_parallel(const KernelMetadata& kernel) {
  return kernel.modes.split_k_parallel && has_long_k(kernel);
}
bool cuts_in_clusters(const KernelMetadata& kernel) {
  return kernel.modes.split_k_cluster && has_long_k(kernel);
}

/// Sums that are cut into slices: of every direction, and of filters of one tap, K is more than a tile.
template <Mode mode>
void cut_k(Problem& p, Dice& dice) {
  p.n = 2, p.h = dice.between(9, 10), p.w = dice.between(9, 10);
  p.padding = {1, 1};
  p.c = 8 * dice.between(9, 10), p.k = 8 * dice.between(9, 10);
  p.controls.mode = mode;
  p.controls.split_k_slices = static_cast<int>(dice.between(2, 3));
}

/// A way through kernels, and what makes of a plain problem one that takes it.
struct OwnPath {
  Path path;
  void (*draw)(Problem& problem, Dice& dice);
};

constexpr OwnPath own_paths[] = {
    {{"plain", every_kernel}, [](Problem&, Dice&) {}},
    {{"padding", has_taps},
     [](Problem& p, Dice& dice) {
       p.padding = {dice.between(1, 4), dice.between(1, 4)};
     }},
    {{"stride", takes_steps},
     [](Problem& p, Dice& dice) {  // tiles begin within images
       p.stride = {dice.between(2, 3), dice.between(1, 3)};
       p.padding = {1, 1};
       p.n = 2, p.h = 12 * p.stride.height, p.w = 12 * p.stride.width;
       p.k = 8 * dice.between(1, 4);
     }},
    {{"dilation", has_taps},
     [](Problem& p, Dice& dice) {
       p.dilation = {2, dice.between(1, 2)};
       p.padding = {2, 2};
     }},
    {{"groups", takes_groups}, [](Problem& p, Dice& dice) { p.groups = dice.one_in(2) ? 2 : 4; }},
    {{"odd_groups", takes_odd_groups},
     [](Problem& p, Dice& dice) {
       draw_odd_groups(p, dice);
       p.epilogue.bias = BiasAxis::column;
     }},
    {{"depthwise", takes_anything},
     [](Problem& p, Dice& dice) {
       p.groups = p.c;
       p.k = p.c * dice.between(1, 2);
     }},
    {{"turned", has_taps},
     [](Problem& p, Dice&) {
       p.flips = true;
       p.padding = {1, 0};
     }},
    {{"one_tap", every_kernel}, [](Problem& p, Dice&) { p.r = p.s = 1; }},
    {{"odd_channels", takes_odd_channels},
     [](Problem& p, Dice& dice) {
       p.c = dice.between(1, 3);
       p.k = 2 * dice.between(1, 9) + 1;
       p.r = 7, p.s = 5;
       p.padding = {1, 0};
     }},
    {{"unaligned", takes_anything},
     [](Problem& p, Dice&) { p.a.alignment = p.b.alignment = p.out.alignment = 1; }},
    {{"words", has_words}, [](Problem& p, Dice&) { p.a.alignment = p.b.alignment = 4; }},
    {{"c", every_kernel}, draw_c},
    {{"c_in_place", every_kernel},
     [](Problem& p, Dice&) {
       p.epilogue.beta = -0.75;
       p.epilogue.in_place = true;
     }},
    {{"bias", takes_bias}, [](Problem& p, Dice&) { p.epilogue.bias = BiasAxis::column; }},
    {{"activation", every_kernel}, draw_activation},
    {{"clamp", every_kernel}, [](Problem& p, Dice&) { draw_clamp(p); }},
    {{"whole_tiles", brings_patches}, draw_whole_tiles},
    {{"whole_tiles_bias", brings_patches_beside_bias},
     [](Problem& p, Dice& dice) {
       draw_whole_tiles(p, dice);
       p.epilogue.bias = BiasAxis::column;
       p.epilogue.activation = Activation::relu;
     }},
    {{"slices", brings_gradients},
     [](Problem& p, Dice& dice) {
       p.n = 2, p.h = dice.between(22, 26), p.w = dice.between(22, 26), p.c = dice.between(1, 3);
       p.controls.mode = Mode::split_k_serial;
       p.controls.split_k_slices = static_cast<int>(dice.between(2, 3));
     }},
    {{"expression", takes_expressions}, [](Problem& p, Dice&) { make_expression(p); }},
    {{"alpha_0", every_kernel},
     [](Problem& p, Dice& dice) {
       draw_c(p, dice);
       p.epilogue.alpha = 0;
     }},
    {{"scale", takes_scale}, draw_scale},
    {{"scale_tensor", takes_scale}, [](Problem& p, Dice&) { p.epilogue.scale = ScaleAxis::tensor; }},
    {{"odd_groups_scale", scales_any_groups},
     [](Problem& p, Dice& dice) {
       draw_odd_groups(p, dice);
       p.c = 2 * (2 * dice.between(2, 4) + 1);  // more than a quad in each group
       p.epilogue.scale = ScaleAxis::column;
       p.epilogue.aux.emplace();
     }},
    {{"residual", takes_residual}, draw_residual},
    {{"residual_in_place", takes_residual},
     [](Problem& p, Dice& dice) {
       draw_activation(p, dice);
       p.epilogue.residual_in_place = true;
     }},
    {{"aux", takes_aux}, draw_aux},
    {{"all_tensors", takes_tensors}, draw_all_tensors},
    {{"whole_tiles_residual", brings_patches},
     [](Problem& p, Dice& dice) {
       draw_whole_tiles(p, dice);
       p.epilogue.residual = OperandSpec{.alignment = wide_alignment(p.out.dtype)};
     }},
    {{"split_k_serial", cuts_serially}, cut_k<Mode::split_k_serial>},
    {{"split_k_parallel", cuts_in_parallel}, cut_k<Mode::split_k_parallel>},
    {{"split_k_cluster", cuts_in_clusters}, cut_k<Mode::split_k_cluster>},
};

}  // namespace

std::vector<Path> Lab::paths() {
  std::vector<Path> all;
  for (const OwnPath& each : own_paths) all.push_back(each.path);
  return all;
}

std::int64_t path_count() { return std::ssize(own_paths); }

void draw_path(std::int64_t path, Problem& problem, Dice& dice) {
  draw_plain_windows(problem, dice);
  own_paths[path].draw(problem, dice);
}

}  // namespace quarry::lab::conv2d
