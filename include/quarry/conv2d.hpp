/// The operation `conv2d`: its arguments.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/operation.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// A number for each axis of an image.
struct ImageAxes {
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend constexpr bool operator==(const ImageAxes&, const ImageAxes&) = default;
};

/// A convolution of images with filters, or one of its gradients. The tensors have rank 4:
///
///     activations   x   N x H x W x C     images, rows, columns, channels
///     filters       w   K x R x S x C/G   filters, rows, columns, channels of a group
///     output        y   N x P x Q x K     images, rows, columns, channels
///
/// where G is the number of groups, P = (H + 2 padding - dilation (R - 1) - 1) / stride + 1, rounded down,
/// with the numbers of the height, and Q likewise with the numbers of the width. The operands are:
///
///     direction   a        b     out
///     fprop       x        w     y
///     dgrad       grad y   w     grad x
///     wgrad       grad y   x     grad w
///
/// out = epilogue(sums), where sum(n, p, q, k) of fprop adds up x(n, p stride - padding + r dilation,
/// q stride - padding + s dilation, c) w(k, r, s, c) over r, s and the channels c of k's group; x is 0
/// outside of the image. dgrad and wgrad: the gradients of these sums.
///
/// Channels (the last extent) are contiguous; all other strides are any, 0 broadcasts an input. Or else, in
/// fprop of s8 and u8 with one group, channels lie in groups of 32, in all tensors: activations and output as
/// nc32hw32 makes them, filters as c32rsk32 does.
///
/// As yet there are no scales of operands.
struct Conv2dArguments {
  static constexpr Operation operation = Operation::conv2d;

  Direction direction = Direction::fprop;
  TensorView a;
  TensorView b;
  /// Same type and extents as `out`; may be `out` itself. Needed when beta is not 0.
  std::optional<TensorView> c = std::nullopt;
  TensorView out;
  /// Rows and columns of zeros on either side of an image. 0 or more.
  ImageAxes padding = {0, 0};
  /// From one position of the window to the next. 1 or more.
  ImageAxes stride = {1, 1};
  /// From one element of a filter to the next. 1 or more.
  ImageAxes dilation = {1, 1};
  /// Channels and filters are in so many groups, each of which sees its own channels alone. With as many
  /// groups as channels a convolution is depthwise.
  std::int64_t groups = 1;
  /// True convolution: the filters are turned by 180 degrees. Otherwise cross-correlation.
  bool flips = false;
  /// Type that products are summed in, as in GemmArguments.
  std::optional<DType> accumulator = std::nullopt;
  /// How f32 operands may be rounded for speed, as in GemmArguments.
  Math math = Math::exact;
  /// The bias has a value for each channel of the output, whatever its axis, and so has the scale, or one
  /// value for all. wgrad takes neither. `residual` and `aux` are tensors of rank 4.
  Epilogue epilogue = {};
  /// Of the product that the convolution is. A kernel refuses a mode that it does not have
  /// (metadata().modes), a number of multiprocessors if it is not persistent, and an order of tiles if it has
  /// one of its own (WindowIterator::window, except for wgrad).
  Controls controls = {};
  /// What becomes of the sums, compiled into the kernel, in the place of `epilogue` and `c`, as in
  /// GemmArguments, without gated pairs and reductions. Where fprop and dgrad have few channels or strides,
  /// kernels made for these refuse it (WindowIterator::window, WindowStrides::strided), and others take it.
  std::optional<Expression> expression = std::nullopt;
  /// The expression's inputs and outputs but `out`, as in GemmArguments. Their shapes are scalar, per_column
  /// (a value for each channel of the output; not of wgrad) and row (the extents of `out`, or 1 along those
  /// that it is broadcast along). Positions of a tensor, and of `out`, lie at even distances.
  std::vector<ExpressionTensor> tensors = {};
};

/// Images N x H x W x C whose channels lie in groups of 32: (N, C/32, H, W, 32), packed. The stride of the
/// last extent leads from one group to the next. C is a multiple of 32, or calls refuse the view. The
/// distance of images may be set longer afterwards.
inline TensorView nc32hw32(const void* data, DType dtype, const std::array<std::int64_t, 4>& extents) {
  const auto [n, h, w, c] = extents;
  const auto of = [](auto... factors) { return detail::product_of_extents(factors...); };
  const std::int64_t strides[] = {of(h, w, c), of(w, interleave), interleave, of(h, w, interleave)};
  TensorView view = TensorView::strided(data, dtype, extents, strides);
  view.tag = LayoutTag::column_interleaved32;
  return view;
}

/// Filters K x R x S x C likewise: (C/32, R, S, K, 32), packed.
inline TensorView c32rsk32(const void* data, DType dtype, const std::array<std::int64_t, 4>& extents) {
  const auto [k, r, s, c] = extents;
  const auto of = [](auto... factors) { return detail::product_of_extents(factors...); };
  const std::int64_t strides[] = {interleave, of(s, k, interleave), of(k, interleave),
                                  of(r, s, k, interleave)};
  TensorView view = TensorView::strided(data, dtype, extents, strides);
  view.tag = LayoutTag::column_interleaved32;
  return view;
}

/// How many positions a window of `filter` elements has on `extent` elements of an image along one axis: P or
/// Q. 0 where the filter is larger than the padded image. An image that is too large for 64 bits counts as
/// the largest one that is not. @pre stride > 0
constexpr std::int64_t window_positions(std::int64_t extent, std::int64_t filter, std::int64_t padding,
                                        std::int64_t stride, std::int64_t dilation) {
  std::int64_t span = 0;  // from the first to the last tap
  if (__builtin_mul_overflow(dilation, filter - 1, &span)) return 0;
  std::int64_t left = 0;
  const bool is_too_large = __builtin_mul_overflow(padding, std::int64_t{2}, &left) ||
                            __builtin_add_overflow(extent - 1, left, &left) ||
                            __builtin_sub_overflow(left, span, &left);
  if (is_too_large) left = std::numeric_limits<std::int64_t>::max() - stride;
  return left < 0 ? 0 : left / stride + 1;
}

}  // namespace quarry
