#include "lab/campaign/draw_epilogue.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "common/config_parts.hpp"

namespace quarry::lab {
namespace {

/// The output's sizes; batch 0: of rank 2.
struct Sizes {
  std::int64_t batch, m, n;
};
Sizes sizes_of(const TensorView& out) {
  return {out.rank == 3 ? out.extents[0] : 0, out.extents[out.rank - 2U], out.extents[out.rank - 1U]};
}

/// A contiguous vector, aligned as its elements are.
TensorView random_vector(DType type, std::int64_t extent) {
  TensorView view = TensorView::vector(nullptr, type, extent);
  view.assumed_alignment = static_cast<std::uint16_t>(bytes_of(type));
  return view;
}

/// A matrix like the output that an epilogue reads, by chance the same for the whole batch.
TensorView random_source(const EpilogueSpace& space, Dice& dice) {
  const TensorView& out = space.out;
  const Sizes sizes = sizes_of(out);
  const bool unlike = out.tag != LayoutTag::strided && dice.one_in(32);  // to be refused
  const Storage storage = {
      .plain = space.plain, .may_be_array = space.arrays, .tag = unlike ? LayoutTag::strided : out.tag};
  return random_matrix(out.dtype, storage, dice.one_in(5) ? 0 : sizes.batch, sizes.m, sizes.n, dice);
}

/// What only some epilogues have: half of the problems, as kernels know shorter ways for the others.
void draw_extras(const EpilogueSpace& space, DrawnEpilogue& drawn, Dice& dice) {
  if (dice.one_in(2)) return;
  const TensorView& out = space.out;
  const Sizes sizes = sizes_of(out);
  Epilogue& e = drawn.epilogue;
  if (dice.one_in(2) && (space.compute != DType::s32 || dice.one_in(32))) {
    e.scale_axis = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
    const std::int64_t extent = e.scale_axis == BiasAxis::row ? sizes.m : sizes.n;
    e.scale = random_vector(space.compute, dice.one_in(3) ? 1 : extent);
  }
  if (dice.one_in(2)) {
    drawn.residual_in_place = dice.one_in(4);
    e.residual = drawn.residual_in_place ? out : random_source(space, dice);
  }
  if (dice.one_in(2)) {
    const Storage storage = {
        .plain = space.plain, .is_output = true, .may_be_array = space.arrays, .tag = out.tag};
    e.aux = random_matrix(out.dtype, storage, sizes.batch, sizes.m, sizes.n, dice);
  }
  const double unit = space.compute == DType::s32 ? 1 << 20 : is_byte(out.dtype) ? 64 : 1;
  if (dice.one_in(2)) e.clamp.low = -0.5 * unit;
  if (dice.one_in(2)) e.clamp.high = dice.one_in(64) ? -unit : 0.75 * unit;
}

}  // namespace

std::vector<Operand> DrawnEpilogue::operands_in_place() const {
  std::vector<Operand> operands;
  if (in_place) operands.push_back(Operand::c);
  if (residual_in_place) operands.push_back(Operand::residual);
  return operands;
}

DrawnEpilogue draw_epilogue(const EpilogueSpace& space, Dice& dice) {
  constexpr double alphas[] = {1, 1, 1, 0.5, -1.25, 2};
  constexpr double betas[] = {0, 0, 1, -0.75};
  const TensorView& out = space.out;
  const Sizes sizes = sizes_of(out);
  DrawnEpilogue drawn;
  Epilogue& e = drawn.epilogue;
  e.alpha = dice.one_in(20) ? 0 : dice.one_of(alphas);
  e.beta = dice.one_of(betas);
  drawn.scalars_by_pointer = dice.one_in(8);
  if (!dice.one_in(3))
    e.activation = static_cast<Activation>(dice.between(0, static_cast<int>(Activation::gelu_tanh)));
  e.leaky_slope = static_cast<float>(dice.between(-4, 4)) / 8;
  const bool reads_c = e.beta.value != 0 || drawn.scalars_by_pointer;
  if (reads_c || dice.one_in(8)) {  // where it must not be read, it has no memory
    drawn.in_place = reads_c && dice.one_in(4);
    drawn.c = drawn.in_place ? out : random_source(space, dice);
  }
  if (dice.one_in(2)) {
    e.bias_axis = dice.one_in(2) ? BiasAxis::row : BiasAxis::column;
    e.bias = random_vector(out.dtype, e.bias_axis == BiasAxis::row ? sizes.m : sizes.n);
  }
  draw_extras(space, drawn, dice);
  return drawn;
}

void make_whole(Epilogue& e, Dice& dice) {
  if (dice.one_in(16)) return;
  e.alpha.value = std::round(3 * e.alpha.value);
  e.beta.value = std::round(3 * e.beta.value);
  if (e.activation > Activation::relu) e.activation = Activation::relu;
}

std::string c_described(const DrawnEpilogue& drawn) {
  if (!drawn.c) return "";
  return drawn.in_place ? ", c is out" : described("c", *drawn.c);
}

std::string described(const DrawnEpilogue& drawn) {
  const Epilogue& e = drawn.epilogue;
  std::array<char, 96> numbers;
  std::snprintf(numbers.data(), numbers.size(), ", alpha %.9g, beta %.9g", e.alpha.value, e.beta.value);
  std::string text = numbers.data();
  if (drawn.scalars_by_pointer) text += " (by pointer)";
  if (e.activation != Activation::identity) text += ", " + std::string(to_string(e.activation));
  if (e.bias) text += e.bias_axis == BiasAxis::row ? ", bias row" : ", bias column";
  if (e.scale)
    text += e.scale->extents[0] == 1        ? ", scale tensor"
            : e.scale_axis == BiasAxis::row ? ", scale row"
                                            : ", scale column";
  if (e.residual) text += drawn.residual_in_place ? ", residual is out" : described("residual", *e.residual);
  if (e.aux) text += described("aux", *e.aux);
  if (e.clamp != Clamp{}) {
    std::snprintf(numbers.data(), numbers.size(), ", clamp %g to %g", e.clamp.low, e.clamp.high);
    text += numbers.data();
  }
  return text;
}

}  // namespace quarry::lab
