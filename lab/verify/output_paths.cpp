#include "lab/verify/output_paths.hpp"

#include <algorithm>

#include "common/config_parts.hpp"
#include "lab/verify/draw.hpp"

namespace quarry::lab {
namespace {

bool every_kernel(const KernelMetadata&) { return true; }
bool takes_bias(const KernelMetadata& kernel) { return kernel.epilogue.bias; }
bool takes_activation(const KernelMetadata& kernel) { return kernel.epilogue.activation; }
bool takes_residual(const KernelMetadata& kernel) { return kernel.epilogue.residual; }
bool takes_aux(const KernelMetadata& kernel) { return kernel.epilogue.aux; }
bool takes_clamp(const KernelMetadata& kernel) { return kernel.epilogue.clamp; }
bool takes_all(const KernelMetadata& kernel) {
  const EpilogueMetadata& e = kernel.epilogue;
  return e.bias && e.activation && e.residual && e.aux && e.clamp;
}
bool takes_batches(const KernelMetadata& kernel) {
  const bool multiplies = kernel.operands.a.dtype != DType::none;  // others have no modes
  return kernel.modes.batched || !multiplies;
}
bool takes_unaligned(const KernelMetadata& kernel) {
  const OperandMetadata& out = kernel.operands.out;
  return out.alignment < wide_alignment(out.dtype);
}
/// Words of 4 bytes are a way of their own where boxes of the output are moved by lanes.
bool moves_words(const KernelMetadata& kernel) {
  return takes_unaligned(kernel) && kernel.design.schedule && bytes_of(kernel.operands.out.dtype) < 4;
}

void draw_nothing(OutputParts&, Dice&) {}

void draw_activation(OutputParts& parts, Dice& dice) {
  parts.epilogue.activation =
      static_cast<Activation>(dice.between(1, static_cast<int>(Activation::gelu_tanh)));
  if (parts.epilogue.activation == Activation::leaky_relu) parts.epilogue.slope = 0.25F;
}

void draw_bias(OutputParts& parts, Dice& dice) {
  parts.epilogue.bias = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
}

/// C in memory of its own.
void draw_own_c(OutputParts& parts, Dice& dice) {
  parts.epilogue.beta = dice.one_in(2) ? 1 : -0.75;
  parts.epilogue.c = parts.out;
}

void draw_c(OutputParts& parts, Dice& dice) {
  draw_own_c(parts, dice);
  parts.epilogue.in_place = dice.one_in(3);
  if (parts.epilogue.in_place) parts.epilogue.c.reset();
}

void draw_residual(OutputParts& parts, Dice& dice) {
  parts.epilogue.residual_in_place = dice.one_in(3);
  if (!parts.epilogue.residual_in_place) parts.epilogue.residual = parts.out;
}

/// With an activation, so that it is not the output once more.
void draw_aux(OutputParts& parts, Dice& dice) {
  draw_activation(parts, dice);
  parts.epilogue.aux = parts.out;
}

/// Bounds that some outputs of any type are beyond.
void draw_clamp(OutputParts& parts, Dice&) {
  const double unit = output_unit(parts.compute, parts.out.dtype);
  parts.epilogue.clamp = {-0.5 * unit, 0.75 * unit};
}

void draw_everything(OutputParts& parts, Dice& dice) {
  draw_own_c(parts, dice);
  draw_bias(parts, dice);
  draw_aux(parts, dice);
  parts.epilogue.residual = parts.out;
  if (parts.compute != DType::s32) parts.epilogue.scale = static_cast<ScaleAxis>(dice.between(0, 2));
  draw_clamp(parts, dice);
}

/// Both are stored so: whoever writes the output by lanes reads C by them, too.
void draw_words(OutputParts& parts, Dice& dice) {
  parts.out.alignment = 4 / bytes_of(parts.out.dtype);
  draw_own_c(parts, dice);
}

void draw_unaligned_c(OutputParts& parts, Dice& dice) {
  draw_own_c(parts, dice);
  parts.epilogue.c->alignment = 1;
}

void draw_batch(OutputParts& parts, Dice& dice) {
  parts.batch = dice.between(2, 3);
  draw_own_c(parts, dice);
}

void draw_shared_c(OutputParts& parts, Dice& dice) {
  draw_batch(parts, dice);
  parts.epilogue.c->shared = true;
}

/// C remains, so that the outputs are not all alike.
void draw_alpha_0(OutputParts& parts, Dice& dice) {
  draw_own_c(parts, dice);
  parts.epilogue.alpha = 0;
}

constexpr OutputPath paths[] = {
    {{"plain", every_kernel}, draw_nothing},
    {{"bias_row", takes_bias}, [](OutputParts& p, Dice&) { p.epilogue.bias = BiasAxis::row; }},
    {{"bias_column", takes_bias}, [](OutputParts& p, Dice&) { p.epilogue.bias = BiasAxis::column; }},
    {{"activation", takes_activation},
     [](OutputParts& p, Dice& dice) {
       draw_activation(p, dice);
       if (dice.one_in(2)) draw_bias(p, dice);
     }},
    {{"c", every_kernel}, draw_c},
    {{"residual", takes_residual}, draw_residual},
    {{"aux", takes_aux}, draw_aux},
    {{"clamp", takes_clamp}, draw_clamp},
    {{"everything", takes_all}, draw_everything},
    {{"unaligned_out", takes_unaligned}, [](OutputParts& p, Dice&) { p.out.alignment = 1; }},
    {{"unaligned_c", takes_unaligned}, draw_unaligned_c},
    {{"words", moves_words}, draw_words},
    {{"batch", takes_batches}, draw_batch},
    {{"shared_c", takes_batches}, draw_shared_c},
    {{"alpha_0", every_kernel}, draw_alpha_0},
};

}  // namespace

std::span<const OutputPath> output_paths() { return paths; }

OutputExtents extents_around(OutputExtents tile, DType out, Layout layout, Dice& dice) {
  OutputExtents extents = {tile.m + dice.between(1, std::max<std::int64_t>(tile.m / 4, 24)),
                           tile.n + dice.between(1, std::max<std::int64_t>(tile.n / 4, 24))};
  std::int64_t& along = has_contiguous_rows(layout) ? extents.n : extents.m;
  along = (along + wide_alignment(out) - 1) / wide_alignment(out) * wide_alignment(out);
  return extents;
}

void begin_path(OperandSpec& out, EpilogueSpec& epilogue, Dice& dice) {
  constexpr double alphas[] = {1, 0.5, -1.25};
  out.alignment = wide_alignment(out.dtype);
  epilogue.alpha = dice.one_of(alphas);
}

}  // namespace quarry::lab
