/// Random GEMM problems for property tests: fake tensors that lab::Operands gives memory to.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "common/config_parts.hpp"
#include "quarry/gemm.hpp"
#include "quarry/tensor.hpp"

namespace quarry::test {

using Random = std::mt19937_64;

/// A number from `least` to `most`.
inline int between(Random& random, int least, int most) {
  return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
}

inline bool coin(Random& random) { return random() % 2 == 0; }

/// What of C and the residual is the output itself, by chance.
inline std::vector<Operand> random_in_place(Random& random) {
  std::vector<Operand> operands;
  for (const Operand operand : {Operand::c, Operand::residual}) {
    if (coin(random)) operands.push_back(operand);
  }
  return operands;
}

template <class T, std::size_t n>
T one_of(Random& random, const T (&values)[n]) {
  return values[random() % n];
}

/// The next multiple of 32, as extents of interleaved matrices are.
inline int whole(int extent) { return (extent + interleave - 1) / interleave * interleave; }

/// A fake interleaved matrix whose groups (and batch entries) have some elements of padding by chance;
/// otherwise as padded_matrix. @pre extents are multiples of 32
inline TensorView padded_interleaved(Random& random, DType type, Layout layout, int alignment, int batch,
                                     int rows, int columns) {
  const bool by_rows = layout == Layout::row_interleaved32;
  const auto padded = [&](std::int64_t elements) {
    const std::int64_t most = elements + (coin(random) ? between(random, 1, 9) : 0);
    return (most + alignment - 1) / alignment * alignment;
  };
  const std::int64_t ld = padded(std::int64_t{interleave} * std::max(by_rows ? columns : rows, 1));
  TensorView view = by_rows ? TensorView::row_interleaved32(nullptr, type, {batch, rows, columns}, ld)
                            : TensorView::column_interleaved32(nullptr, type, {batch, rows, columns}, ld);
  view.strides[0] = padded(view.strides[0]);
  if (batch == 0) {
    view.rank = 2;
    view.extents = {rows, columns};
    view.strides = {view.strides[1], view.strides[2]};
  }
  view.assumed_alignment = static_cast<std::uint16_t>(alignment * bytes_of(type));
  return view;
}

/// A fake matrix of this layout whose leading dimension (and batch stride) has some elements of padding by
/// chance. Pointer and strides are multiples of `alignment` elements. Batch 0: rank 2.
inline TensorView padded_matrix(Random& random, DType type, Layout layout, int alignment, int batch, int rows,
                                int columns) {
  if (is_interleaved(layout))
    return padded_interleaved(random, type, layout, alignment, batch, rows, columns);
  const std::int64_t line = std::max(layout == Layout::row ? columns : rows, 1);
  const std::int64_t lines = std::max(layout == Layout::row ? rows : columns, 1);
  const auto padded = [&](std::int64_t elements) {
    const std::int64_t most = elements + (coin(random) ? between(random, 1, 9) : 0);
    return (most + alignment - 1) / alignment * alignment;
  };
  const std::int64_t ld = padded(line);
  const std::int64_t batch_stride = padded(ld * lines);
  const std::array<std::int64_t, 3> extents = {batch, rows, columns};
  const std::array<std::int64_t, 3> strides = {batch_stride, layout == Layout::row ? ld : 1,
                                               layout == Layout::row ? 1 : ld};
  const std::size_t first = batch == 0 ? 1 : 0;
  TensorView view = TensorView::strided(nullptr, type, std::span(extents).subspan(first),
                                        std::span(strides).subspan(first));
  view.assumed_alignment = static_cast<std::uint16_t>(bytes_for(type, alignment));
  return view;
}

struct ShapeLimits {
  int m = 150;
  int n = 150;
  int k = 150;
  int alignment_bytes = 1;  ///< of A's and B's pointers and strides; at least an element
  bool arrays = false;      ///< batches may be arrays of pointers
};

/// Makes arrays of pointers of some operands of a batch.
inline void choose_arrays(Random& random, GemmArguments& args) {
  const auto choose = [&random](TensorView& view) {
    if (view.rank == 3 && view.tag == LayoutTag::strided && coin(random)) view.is_pointer_array = true;
  };
  for (TensorView* view : {&args.a, &args.b, &args.out}) choose(*view);
  for (std::optional<TensorView>* view : {&args.c, &args.epilogue.residual, &args.epilogue.aux}) {
    if (*view) choose(**view);
  }
}

/// Where products of bytes are summed: an epilogue in whole numbers where it is computed in s32, otherwise a
/// power of two in alpha that brings most outputs into the range of a byte.
inline void fit_integers(GemmArguments& args, const Types& types, int k) {
  if (types.accumulator != DType::s32) return;
  Epilogue& e = args.epilogue;
  if (compute_type(types.accumulator, types.out) == DType::s32) {
    for (Scalar* scalar : {&e.alpha, &e.beta}) scalar->value = std::floor(3 * scalar->value);
    if (e.activation > Activation::relu) e.activation = Activation::relu;
    return;
  }
  const bool one_sign = types.a == DType::u8 && types.b == DType::u8;
  const double log_k = std::log2(static_cast<double>(k));
  e.alpha.value *= std::exp2(-std::round(one_sign ? log_k + 8 : log_k / 2 + 7));
}

/// What only some epilogues have: scale, residual, aux and clamp, each by chance.
inline void add_extras(Random& random, const Types& types, GemmArguments& args) {
  Epilogue& e = args.epilogue;
  const TensorView& out = args.out;
  const int m = static_cast<int>(out.extents[out.rank - 2U]);
  const int n = static_cast<int>(out.extents[out.rank - 1U]);
  const int batch = out.rank == 3 ? static_cast<int>(out.extents[0]) : 0;
  const DType compute = compute_type(types.accumulator, types.out);
  const auto like_out = [&](int entries) {
    const Layout layout = coin(random) ? Layout::row : Layout::column;
    const bool strided = out.tag == LayoutTag::strided;
    return padded_matrix(random, types.out, strided ? layout : layout_of(out.tag), 1, entries, m, n);
  };
  if (coin(random) && compute != DType::s32) {
    e.scale_axis = coin(random) ? BiasAxis::row : BiasAxis::column;
    const int extent = e.scale_axis == BiasAxis::row ? m : n;
    e.scale = TensorView::vector(nullptr, compute, coin(random) ? extent : 1);
  }
  if (coin(random)) e.residual = like_out(coin(random) ? batch : 0);
  if (coin(random)) e.aux = like_out(batch);
  const double unit = compute == DType::s32 ? 1 << 10 : 1;
  if (coin(random)) e.clamp.low = -1 * unit;
  if (coin(random)) e.clamp.high = 2 * unit;
}

/// A problem of these types and layouts: extents from 1 up to the limits and often 1, batch, padding and
/// epilogue by chance.
inline GemmArguments random_shape(Random& random, const Types& types, const Layouts& layouts,
                                  const ShapeLimits& limits) {
  const auto extent = [&random](int most) { return random() % 8 == 0 ? 1 : between(random, 1, most); };
  const bool a = is_interleaved(layouts.a);
  const bool b = is_interleaved(layouts.b);
  const bool out = is_interleaved(layouts.out);
  const auto fitted = [](int extent_drawn, bool is_whole) {
    return is_whole ? whole(extent_drawn) : extent_drawn;
  };
  const int m = fitted(extent(limits.m), a || out);
  const int n = fitted(extent(limits.n), b || out);
  const int k = fitted(extent(limits.k), a || b);
  const int batch = coin(random) ? 0 : between(random, 1, 3);
  const auto input = [&](DType type, Layout layout, int rows, int columns) {
    const int alignment = std::max(limits.alignment_bytes * 8 / bits_of(type), is_half_byte(type) ? 2 : 1);
    return padded_matrix(random, type, layout, alignment, coin(random) ? batch : 0, rows, columns);
  };

  GemmArguments args;
  args.accumulator = types.accumulator;
  args.a = input(types.a, layouts.a, m, k);
  args.b = input(types.b, layouts.b, k, n);
  args.out = padded_matrix(random, types.out, layouts.out, 1, batch, m, n);

  constexpr double scalars[] = {1, 1, 0, -0.5, 2};
  args.epilogue.alpha = one_of(random, scalars);
  args.epilogue.beta = one_of(random, scalars);
  if (args.epilogue.beta.value != 0) args.c = padded_matrix(random, types.out, layouts.out, 1, batch, m, n);
  args.epilogue.activation = static_cast<Activation>(between(random, 0, 8));
  fit_integers(args, types, k);
  if (coin(random)) {
    args.epilogue.bias_axis = coin(random) ? BiasAxis::row : BiasAxis::column;
    const int length = args.epilogue.bias_axis == BiasAxis::row ? m : n;
    args.epilogue.bias = TensorView::vector(nullptr, types.out, length);
    args.epilogue.bias->assumed_alignment = static_cast<std::uint16_t>(bytes_of(types.out));
  }
  if (coin(random)) add_extras(random, types, args);
  if (limits.arrays && coin(random)) choose_arrays(random, args);
  return args;
}

}  // namespace quarry::test
