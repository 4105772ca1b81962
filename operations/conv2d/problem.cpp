#include "operations/conv2d/problem.hpp"

#include <algorithm>
#include <cstdint>

#include "operations/common/epilogue_values.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/conv2d/checks.hpp"
#include "operations/conv2d/expression.hpp"
#include "operations/gemm/expression.hpp"

namespace quarry::detail::conv2d {
namespace {

int number(std::int64_t extent) { return static_cast<int>(extent); }

Divisor divisor(std::int64_t extent) { return divisor_of(std::max(1, number(extent))); }

/// A tensor with packed groups of 32 channels. Its groups follow from the stride of rows, which there is
/// whatever the extents are.
MatrixParams grouped_tensor(const TensorView& view) {
  const auto& e = view.extents;
  const std::int64_t step = has_image_order(view) ? interleave : std::max<std::int64_t>(e[0], 1) * interleave;
  return {view.data, std::max<std::int64_t>(e[2], 1) * step, step, e[0] > 1 ? view.strides[0] : 0};
}

/// A tensor of rank 4 as kernels walk it. One entry of an extent has no stride.
MatrixParams tensor(const TensorView& view) {
  if (view.tag != LayoutTag::strided) return grouped_tensor(view);
  const auto stride = [&](std::size_t i) { return view.extents[i] > 1 ? view.strides[i] : 0; };
  return {view.data, stride(1), stride(2), stride(0)};
}

/// The same with what it is aligned to. Channels are contiguous, so both layouts of a matrix have the lines
/// of the tensor.
ProblemOperand operand(const TensorView& view) {
  ProblemOperand result;
  result.matrix = tensor(view);
  const unsigned pointer = aligned_bytes(view);
  const auto bytes = static_cast<std::uint64_t>(std::max(1, bytes_of(view.dtype)));
  std::uint64_t bits = pointer;
  for (std::size_t i = 0; i < 3; ++i) {
    if (view.extents[i] > 1) bits |= static_cast<std::uint64_t>(view.strides[i]) * bytes;
  }
  const std::uint64_t elements = std::max<std::uint64_t>(1, (bits & (~bits + 1)) / bytes);
  result.pointer_bytes = static_cast<std::uint8_t>(pointer);
  for (const Layout layout : {Layout::row, Layout::column})
    result.alignment[static_cast<int>(layout)] = static_cast<std::uint8_t>(elements);
  return result;
}

/// The epilogue of tensors of rank 4. Its vectors have a value for each channel of the output, whatever their
/// axis.
void describe_epilogue(const Epilogue& e, DType compute, GemmProblem& p) {
  p.has_bias = e.bias.has_value();
  p.has_scale = e.scale.has_value();
  p.has_residual = e.residual.has_value();
  p.has_aux = e.aux.has_value();
  p.epilogue = epilogue_params(e, compute);
  p.epilogue.bias_axis = BiasAxis::column;
  if (e.scale) p.epilogue.scale = {e.scale->data, 0, e.scale->extents[0] > 1 ? 1 : 0, 0};
  if (e.residual) p.epilogue.residual = tensor(*e.residual);
  if (e.aux) p.epilogue.aux = tensor(*e.aux);
}

/// @param turned in dgrad, windows have their places in the image
WindowAxis axis(std::int64_t image, std::int64_t output, std::int64_t filter, std::int64_t padding,
                std::int64_t stride, std::int64_t dilation, bool turned) {
  return {.extent = number(turned ? output : image),
          .places = divisor(turned ? image : output),
          .stride = divisor(stride),
          .padding = number(padding),
          .dilation = number(dilation),
          .taps = divisor(filter)};
}

/// The windows, without the groups' offsets. Extents of the arguments fit in 32 bits.
Windows windows_of(const Conv2dArguments& args, const Roles& roles) {
  const auto& x = roles.activations.extents;
  const auto& w = roles.filters.extents;
  const auto& y = roles.output.extents;
  const bool turned = args.direction == Direction::dgrad;
  const std::int64_t filters = w[0] / args.groups;
  return {
      .rows = axis(x[1], y[1], w[1], args.padding.height, args.stride.height, args.dilation.height, turned),
      .columns = axis(x[2], y[2], w[2], args.padding.width, args.stride.width, args.dilation.width, turned),
      .channels = divisor(turned ? filters : w[3]),
      .flips = args.flips,
      .group_a = 0,
      .group_b = 0};
}

/// Sizes of the product, and of a group in the operands.
void describe_product(const Conv2dArguments& args, const Roles& roles, Conv2dProblem& problem) {
  const auto& x = roles.activations.extents;
  const auto& w = roles.filters.extents;
  const auto& y = roles.output.extents;
  const std::int64_t filters = w[0] / args.groups;
  const std::int64_t channels = w[3];
  const std::int64_t taps = w[1] * w[2];
  GemmProblem& p = problem.product;
  switch (args.direction) {
    case Direction::dgrad:
      p.m = number(x[0] * x[1] * x[2]), p.n = number(channels), p.k = number(taps * filters);
      problem.windows.group_a = filters;
      problem.windows.group_b = filters * p.b.matrix.batch_stride;
      break;
    case Direction::wgrad:
      p.m = number(filters), p.n = number(taps * channels), p.k = number(y[0] * y[1] * y[2]);
      problem.windows.group_a = filters;
      problem.windows.group_b = channels;
      break;
    default:
      p.m = number(y[0] * y[1] * y[2]), p.n = number(filters), p.k = number(taps * channels);
      problem.windows.group_a = channels;
      problem.windows.group_b = filters * p.b.matrix.batch_stride;
  }
  p.batch = number(args.groups);
  if (is_zero(args.epilogue.alpha)) p.k = 0;
}

}  // namespace

Roles roles_of(const Conv2dArguments& args) {
  switch (args.direction) {
    case Direction::dgrad: return {args.out, args.b, args.a, Operand::out, Operand::b, Operand::a};
    case Direction::wgrad: return {args.b, args.out, args.a, Operand::b, Operand::out, Operand::a};
    default: return {args.a, args.b, args.out, Operand::a, Operand::b, Operand::out};
  }
}

void describe(const Conv2dArguments& args, Conv2dProblem& problem) {
  const Roles roles = roles_of(args);
  const Epilogue& e = args.epilogue;
  const DType accumulator = accumulator_of(args);
  problem = {};
  problem.direction = args.direction;
  problem.windows = windows_of(args, roles);
  problem.interleaved = args.out.tag != LayoutTag::strided;
  GemmProblem& p = problem.product;
  p.types = {args.a.dtype, args.b.dtype, accumulator, args.out.dtype};
  p.math = args.math;
  p.a = operand(args.a);
  p.b = operand(args.b);
  p.out = operand(args.out);
  p.has_c = !is_zero(e.beta);
  if (p.has_c) p.c = operand(*args.c);
  describe_epilogue(e, compute_type(accumulator, args.out.dtype), p);
  p.controls = args.controls;
  describe_product(args, roles, problem);
  if (!args.expression) return;
  describe_expression(given_expression(args), p);
  problem.out_matrix = matrix_of_out(p.expressed);
}

}  // namespace quarry::detail::conv2d
