#include <algorithm>

#include "draw_tensors.hpp"
#include "problem.hpp"

namespace quarry::golden {
namespace {

using std::int64_t;

/// Any address: place() sees by it that a view is the output, and chooses the addresses.
const void* const at_output = reinterpret_cast<const void*>(std::uintptr_t{1});

/// A made-up address of a scalar.
const void* const scalar_address = reinterpret_cast<const void*>(std::uintptr_t{1} << 40);

/// A matrix as the output is; an input may be the same for the whole batch.
TensorView like(const TensorView& out, bool is_output, bool arrays, Dice& dice) {
  const int64_t batch = out.rank == 3 && (is_output || !dice.one_in(5)) ? out.extents[0] : 0;
  return draw_matrix({.dtype = out.dtype,
                      .layout = layout_of_view(out),
                      .batch = batch,
                      .rows = out.extents[out.rank - 2U],
                      .columns = out.extents[out.rank - 1U],
                      .plain = dice.one_in(2),
                      .is_output = is_output,
                      .may_be_array = arrays},
                     dice);
}

TensorView input_like(const TensorView& out, bool arrays, Dice& dice) {
  if (!dice.one_in(4)) return like(out, false, arrays, dice);
  TensorView view = out;
  view.data = at_output;
  return view;
}

/// A vector along an extent of the output.
TensorView vector_along(BiasAxis axis, DType type, const TensorView& out, Dice& dice) {
  const std::size_t extent = out.rank - (axis == BiasAxis::row ? 2U : 1U);
  TensorView view = TensorView::vector(nullptr, type, out.extents[extent]);
  view.assumed_alignment = static_cast<std::uint16_t>(dice.one_in(2) ? 16 : bytes_of(type));
  return view;
}

BiasAxis draw_axis(Dice& dice) { return dice.one_in(2) ? BiasAxis::row : BiasAxis::column; }

void draw_scalars(Problem& problem, DType compute, Dice& dice) {
  constexpr double alphas[] = {1, 1, 1, 0.5, -1.25, 2, 0};
  constexpr double betas[] = {0, 0, 1, -0.75};
  const bool whole = compute == DType::s32 && !dice.one_in(16);
  Epilogue& e = problem.epilogue();
  e.alpha = dice.one_of(alphas) * (whole ? 4 : 1);
  e.beta = dice.one_of(betas) * (whole ? 4 : 1);
  if (dice.one_in(16)) e.alpha.pointer = scalar_address;
  if (dice.one_in(16)) e.beta.pointer = scalar_address;
}

void draw_clamp(Epilogue& e, DType compute, Dice& dice) {
  const double unit = compute == DType::s32 ? 1 << 20 : 1;
  if (dice.one_in(2)) e.clamp.low = -0.5 * unit;
  if (dice.one_in(2)) e.clamp.high = 0.75 * unit;
}

}  // namespace

void draw_epilogue(Problem& problem, DType compute, bool arrays, Dice& dice) {
  Epilogue& e = problem.epilogue();
  const TensorView& out = problem.out();
  if (dice.one_in(4)) return;
  draw_scalars(problem, compute, dice);
  const bool reads_c = e.beta.value != 0 || e.beta.pointer != nullptr;
  if (reads_c || dice.one_in(8)) problem.c() = input_like(out, arrays, dice);
  if (!dice.one_in(3)) {
    const bool few = compute == DType::s32 && !dice.one_in(16);
    e.activation = static_cast<Activation>(dice.between(0, few ? 1 : 8));
    e.leaky_slope = static_cast<float>(dice.between(-4, 4)) / 8;
  }
  if (dice.one_in(2)) {
    e.bias_axis = draw_axis(dice);
    e.bias = vector_along(e.bias_axis, out.dtype, out, dice);
  }
  if (dice.one_in(2)) return;  // kernels know shorter ways for problems without the rest
  if (dice.one_in(3) && (compute != DType::s32 || dice.one_in(16))) {
    e.scale_axis = draw_axis(dice);
    e.scale = vector_along(e.scale_axis, compute, out, dice);
    if (dice.one_in(3)) e.scale->extents[0] = 1;
  }
  if (dice.one_in(3)) e.residual = input_like(out, arrays, dice);
  if (dice.one_in(3)) e.aux = like(out, true, arrays, dice);
  if (dice.one_in(2)) draw_clamp(e, compute, dice);
}

}  // namespace quarry::golden
