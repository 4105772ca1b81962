#include "lab/verify/draw.hpp"

#include <algorithm>
#include <cmath>

#include "common/config_parts.hpp"

namespace quarry::lab {
namespace {

/// What only some epilogues have, as kernels know shorter ways for the others.
void draw_extras(DType compute, DType out, EpilogueSpec& e, Dice& dice) {
  if (dice.one_in(2)) return;
  const auto axis = static_cast<ScaleAxis>(dice.between(0, 2));
  if (dice.one_in(2) && compute != DType::s32) e.scale = axis;
  if (dice.one_in(2)) {
    e.residual_in_place = dice.one_in(3);
    if (!e.residual_in_place) e.residual.emplace();
  }
  if (dice.one_in(2)) e.aux.emplace();
  const double unit = output_unit(compute, out);
  if (dice.one_in(2)) e.clamp.low = -0.5 * unit;
  if (dice.one_in(2)) e.clamp.high = 0.75 * unit;
}

/// What stands in front of the extras.
void draw_usual(const EpilogueMetadata& kernel, EpilogueSpec& e, Dice& dice) {
  constexpr double alphas[] = {1, 1, 0.5, -1.25};
  constexpr double betas[] = {0, 0, 1, -0.75};
  e.alpha = dice.one_in(20) ? 0 : dice.one_of(alphas);
  if (dice.one_in(6)) return;  // nothing else, for which epilogues have a short way
  e.beta = dice.one_of(betas);
  e.in_place = e.beta != 0 && dice.one_in(3);
  const auto activation = static_cast<Activation>(dice.between(0, static_cast<int>(Activation::gelu_tanh)));
  const BiasAxis axis = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
  if (kernel.activation && !dice.one_in(3)) e.activation = activation;
  if (kernel.bias && dice.one_in(2)) e.bias = axis;
  if (e.activation == Activation::leaky_relu) e.slope = 0.25F;
}

}  // namespace

std::int64_t whole(std::int64_t extent) { return (extent + interleave - 1) / interleave * interleave; }

int wide_alignment(DType out) { return std::max(16 / bytes_of(out), 4); }

double output_unit(DType compute, DType out) {
  return compute == DType::s32 ? 1 << 20 : is_byte(out) ? 64 : 1;
}

int small_size(Dice& dice) {
  constexpr int sizes[] = {1, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 33, 63, 65, 70};
  return dice.one_of(sizes);
}

void draw_epilogue(const EpilogueMetadata& kernel, DType compute, DType out, EpilogueSpec& epilogue,
                   Dice& dice) {
  draw_usual(kernel, epilogue, dice);
  draw_extras(compute, out, epilogue, dice);
}

void make_whole(EpilogueSpec& e) {
  e.alpha = std::round(3 * e.alpha);
  e.beta = std::round(3 * e.beta);
  if (e.activation > Activation::relu) e.activation = Activation::relu;
}

OperandSpec stored_at(DType dtype, Layout layout, int alignment, std::int64_t rows, std::int64_t columns,
                      Dice& dice) {
  const bool by_rows = has_contiguous_rows(layout) != is_interleaved(layout);
  const std::int64_t unit = is_interleaved(layout) ? interleave : 1;
  const std::int64_t along = std::max<std::int64_t>((by_rows ? columns : rows) * unit, 1);
  std::int64_t units = (along + alignment - 1) / alignment + dice.between(0, 2);
  if (units % 2 == 0) ++units;
  return {.dtype = dtype, .layout = layout, .ld = units * alignment, .alignment = alignment};
}

void store_output(const KernelMetadata& kernel, OutputSpec& output, EpilogueSpec& e, Dice& dice) {
  const OperandMetadata& out = kernel.operands.out;
  const OperandMetadata& c = kernel.operands.c;
  const bool is_asked = output.out.alignment > 0;
  const int drawn = is_asked ? output.out.alignment : dice.one_in(2) ? wide_alignment(output.out.dtype) : 1;
  const auto store = [&](const OperandSpec& asked, Layout layout, int least) {
    const int alignment = std::max(least, asked.alignment > 0 ? asked.alignment : drawn);
    OperandSpec spec = stored_at(output.out.dtype, layout, alignment, output.m, output.n, dice);
    spec.array = asked.array;
    spec.shared = asked.shared;
    return spec;
  };
  output.out = store(output.out, out.layout, std::max(out.alignment, e.in_place ? c.alignment : 1));
  if (e.beta != 0 && !e.in_place) e.c = store(e.c.value_or(OperandSpec{}), c.layout, c.alignment);
  for (std::optional<OperandSpec>* extra : {&e.residual, &e.aux}) {
    if (!*extra) continue;
    const bool other = !is_asked && dice.one_in(4) && !is_interleaved(out.layout);
    *extra = store(**extra, other ? transposed(out.layout) : out.layout, 1);
  }
}

void choose_arrays(std::span<OperandSpec* const> operands, EpilogueSpec& epilogue, Dice& dice) {
  const auto choose = [&dice](OperandSpec& operand) {
    const bool array = dice.one_in(2);
    operand.array = array && !operand.shared && !is_interleaved(operand.layout);
  };
  for (OperandSpec* operand : operands) choose(*operand);
  for (std::optional<OperandSpec>* operand : {&epilogue.c, &epilogue.residual, &epilogue.aux}) {
    if (*operand) choose(**operand);
  }
}

}  // namespace quarry::lab
