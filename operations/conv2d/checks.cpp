#include "operations/conv2d/checks.hpp"

#include <limits>
#include <string>

#include "common/config_parts.hpp"
#include "config_text.hpp"
#include "operations/common/controls.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/conv2d/expression.hpp"

namespace quarry::detail::conv2d {
namespace {

constexpr auto code = StatusCode::invalid_arguments;
constexpr std::int64_t limit = std::numeric_limits<std::int32_t>::max();
/// The most rows, columns and K of a product: kernels count in 32 bits to the end of a tile behind it.
constexpr std::int64_t most_positions = limit - 2 * max_setting;

std::string text(std::int64_t number) { return std::to_string(number); }
std::string operand(Operand name) { return "Operand `" + std::string(to_string(name)) + "`"; }

/// Checks a tensor of rank 4 whose channels are contiguous, or lie in groups of 32.
Status check_view(const TensorView& view, Operand name) {
  if (Status s = check_tensor(view, name, 4, 4); !s) return s;
  if (view.tag != LayoutTag::strided || view.extents[3] <= 1 || view.strides[3] == 1) return {};
  return invalid(operand(name) +
                 " does not have contiguous channels: expected a stride of 1 along the last "
                 "extent, got " +
                 text(view.strides[3]));
}

/// Checks a number for each axis.
Status check_axes(const ImageAxes& axes, std::string_view name, std::int64_t least) {
  for (const auto& [number, axis] : {std::pair(axes.height, "height"), std::pair(axes.width, "width")}) {
    if (number >= least && number <= limit) continue;
    return invalid("The " + std::string(name) + " along the " + axis + " is " + text(number) + ": expected " +
                   text(least) + " to " + text(limit));
  }
  return {};
}

Status check_windows(const Conv2dArguments& args) {
  if (args.direction > Direction::wgrad)
    return invalid("There is no direction of number " + text(static_cast<int>(args.direction)));
  if (Status s = check_axes(args.padding, "padding", 0); !s) return s;
  if (Status s = check_axes(args.stride, "stride", 1); !s) return s;
  if (Status s = check_axes(args.dilation, "dilation", 1); !s) return s;
  if (args.groups >= 1 && args.groups <= limit) return {};
  return invalid("The number of groups is " + text(args.groups) + ": expected 1 or more");
}

/// Checks channels and filters against the groups, and the tensors against each other.
Status check_channels(const Conv2dArguments& args, const Roles& r) {
  const std::int64_t channels = r.activations.extents[3];
  const std::int64_t filters = r.filters.extents[0];
  for (const auto& [number, name] : {std::pair(channels, "channels"), std::pair(filters, "filters")}) {
    if (number % args.groups == 0) continue;
    return invalid("Groups do not divide the " + std::string(name) + ": there are " + text(args.groups) +
                   " groups and " + text(number) + " " + name);
  }
  if (const std::int64_t expected = channels / args.groups; r.filters.extents[3] != expected) {
    return invalid(operand(r.filters_name) + " has filters of " + text(r.filters.extents[3]) +
                   " channels: expected " + text(expected) + ", as " + operand(r.activations_name) + " has " +
                   text(channels) + " in " + text(args.groups) + " groups");
  }
  if (r.output.extents[3] != filters) {
    return invalid(operand(r.output_name) + " has " + text(r.output.extents[3]) +
                   " channels: expected one for each of the " + text(filters) + " filters");
  }
  if (r.output.extents[0] == r.activations.extents[0]) return {};
  return invalid(operand(r.output_name) + " has " + text(r.output.extents[0]) + " images: expected " +
                 text(r.activations.extents[0]) + ", as " + operand(r.activations_name) + " has");
}

/// The numbers of one axis.
struct Axis {
  const char* name;
  const char* lines;
  std::int64_t image, filter, output, padding, stride, dilation;
};

/// Checks that the filter lies within the padded image. @pre each number is in its range
Status check_filter(const Axis& a, const Roles& r) {
  if (a.filter < 1)
    return invalid(operand(r.filters_name) + " has filters without " + a.lines + ": expected 1 or more");
  const std::int64_t padded = a.image + 2 * a.padding;
  if (padded > limit) {
    return invalid("The padded " + std::string(a.name) + " of an image is " + text(padded) +
                   ": expected at most " + text(limit));
  }
  const std::int64_t spanned = a.dilation * (a.filter - 1) + 1;
  if (spanned <= padded) return {};
  return invalid("The filter is larger than the padded image: it spans " + text(spanned) + " " + a.lines +
                 " (" + text(a.filter) + " with dilation " + text(a.dilation) + "), the image has " +
                 text(padded) + " (" + text(a.image) + " with padding " + text(a.padding) + ")");
}

Status check_extents(const Conv2dArguments& args, const Roles& r) {
  const auto& x = r.activations.extents;
  const auto& w = r.filters.extents;
  const auto& y = r.output.extents;
  const Axis axes[] = {
      {"height", "rows", x[1], w[1], y[1], args.padding.height, args.stride.height, args.dilation.height},
      {"width", "columns", x[2], w[2], y[2], args.padding.width, args.stride.width, args.dilation.width}};
  std::int64_t expected[2];
  for (int i = 0; i < 2; ++i) {
    const Axis& a = axes[i];
    if (Status s = check_filter(a, r); !s) return s;
    expected[i] = window_positions(a.image, a.filter, a.padding, a.stride, a.dilation);
  }
  if (y[1] == expected[0] && y[2] == expected[1]) return {};
  return invalid(operand(r.output_name) + " has images of " + text(y[1]) + "x" + text(y[2]) + ": expected " +
                 text(expected[0]) + "x" + text(expected[1]) + ", which " + text(x[1]) + "x" + text(x[2]) +
                 " gives with filters of " + text(w[1]) + "x" + text(w[2]) +
                 " and this padding, stride and "
                 "dilation");
}

/// Whether a product of extents can be counted. @pre none is negative
bool fits(std::int64_t a, std::int64_t b, std::int64_t c) {
  return a == 0 || b == 0 || c == 0 || (a <= most_positions / b && a * b <= most_positions / c);
}

/// Checks the sizes of the product.
Status check_sizes(const Roles& r) {
  const auto check = [](const TensorView& view, Operand name, const char* what, std::size_t first) -> Status {
    const auto& e = view.extents;
    if (fits(e[first], e[first + 1], e[first + 2])) return {};
    return invalid(operand(name) + " has too many " + what + " (" + text(e[first]) + "x" +
                   text(e[first + 1]) + "x" + text(e[first + 2]) + "): expected at most " +
                   text(most_positions));
  };
  if (Status s = check(r.activations, r.activations_name, "positions", 0); !s) return s;
  if (Status s = check(r.output, r.output_name, "positions", 0); !s) return s;
  if (Status s = check(r.filters, r.filters_name, "elements in a filter", 1); !s) return s;
  return check(r.filters, r.filters_name, "taps", 0);
}

Status check_dtype(const TensorView& view, Operand name, DType type) {
  if (view.dtype == type) return {};
  return {code, Reason::dtype, name, static_cast<int>(type), static_cast<int>(view.dtype)};
}

/// Checks a tensor that is read or written as the output is: of its type and extents.
Status check_like_out(const TensorView& view, Operand name, const TensorView& out) {
  if (Status s = check_view(view, name); !s) return s;
  if (Status s = check_dtype(view, name, out.dtype); !s) return s;
  for (std::size_t i = 0; i < 4; ++i) {
    if (view.extents[i] != out.extents[i])
      return {code, Reason::extent, name, out.extents[i], view.extents[i]};
  }
  return {};
}

/// Checks C, the residual and aux.
Status check_tensors_of_epilogue(const Conv2dArguments& args) {
  const Epilogue& e = args.epilogue;
  if (!is_zero(e.beta)) {
    if (!args.c) return {code, Reason::missing, Operand::c};
    if (Status s = check_like_out(*args.c, Operand::c, args.out); !s) return s;
  }
  if (e.residual) {
    if (Status s = check_like_out(*e.residual, Operand::residual, args.out); !s) return s;
  }
  if (!e.aux) return {};
  if (Status s = check_like_out(*e.aux, Operand::aux, args.out); !s) return s;
  return check_output_strides(*e.aux, Operand::aux);
}

/// Checks a vector along the channels of the output. @param extent that it must have
Status check_vector(const TensorView& vector, Operand name, DType type, Direction direction,
                    std::int64_t extent) {
  if (direction == Direction::wgrad) {
    return invalid(operand(name) +
                   " is unsupported: wgrad takes none, its output has no channels of an image");
  }
  if (Status s = check_tensor(vector, name, 1, 1); !s) return s;
  if (Status s = check_dtype(vector, name, type); !s) return s;
  if (vector.extents[0] != extent) return {code, Reason::extent, name, extent, vector.extents[0]};
  if (extent <= 1 || vector.strides[0] == 1) return {};
  return invalid(operand(name) + " is not contiguous: its stride is " + text(vector.strides[0]));
}

Status check_bias(const Conv2dArguments& args) {
  if (!args.epilogue.bias) return {};
  return check_vector(*args.epilogue.bias, Operand::bias, args.out.dtype, args.direction,
                      args.out.extents[3]);
}

/// Checks the scale, which may be one value for all channels.
Status check_scale(const Conv2dArguments& args, DType compute) {
  if (!args.epilogue.scale) return {};
  const TensorView& scale = *args.epilogue.scale;
  if (compute == DType::s32) {
    return invalid("Operand `scale` is unsupported: an s32 output is computed in s32, which is not scaled");
  }
  const bool is_one = scale.rank == 1 && scale.extents[0] == 1;
  return check_vector(scale, Operand::scale, compute, args.direction, is_one ? 1 : args.out.extents[3]);
}

/// Checks how channels lie that are in groups of 32.
Status check_order(const TensorView& view, Operand name, bool is_filters) {
  if (is_filters ? has_filter_order(view) : has_image_order(view)) return {};
  return invalid(operand(name) + " is not laid out as " +
                 (is_filters ? "filters (C/32, R, S, K, 32), as quarry::c32rsk32 makes them"
                             : "images (N, C/32, H, W, 32), as quarry::nc32hw32 makes them"));
}

/// Checks that all tensors have their channels in groups of 32, or none.
Status check_layouts(const Conv2dArguments& args) {
  const Epilogue& e = args.epilogue;
  const auto given = [](const std::optional<TensorView>& view) { return view ? &*view : nullptr; };
  const std::pair<const TensorView*, Operand> tensors[] = {
      {&args.a, Operand::a},
      {&args.b, Operand::b},
      {&args.out, Operand::out},
      {is_zero(e.beta) ? nullptr : given(args.c), Operand::c},
      {given(e.residual), Operand::residual},
      {given(e.aux), Operand::aux}};
  for (const auto& [view, name] : tensors) {
    if (view != nullptr && view->tag != args.out.tag)
      return {code, Reason::tag, name, static_cast<int>(args.out.tag), static_cast<int>(view->tag)};
  }
  if (args.out.tag == LayoutTag::strided) return {};
  if (args.direction != Direction::fprop || args.groups != 1)
    return invalid("Channels in groups of 32 are unsupported: expected fprop of one group, got " +
                   std::string(to_string(args.direction)) + " of " + text(args.groups));
  for (const auto& [view, name] : tensors) {
    if (view == nullptr) continue;
    if (Status s = check_order(*view, name, name == Operand::b); !s) return s;
  }
  return {};
}

}  // namespace

DType accumulator_of(const Conv2dArguments& args) {
  return args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
}

Status normalise(const Conv2dArguments& args, const OperandList& operands, Conv2dProblem& problem) {
  if (Status s = check_windows(args); !s) return s;
  if (Status s = check_view(args.out, Operand::out); !s) return s;
  if (Status s = check_view(args.a, Operand::a); !s) return s;
  if (Status s = check_view(args.b, Operand::b); !s) return s;
  const Roles roles = roles_of(args);
  if (Status s = check_channels(args, roles); !s) return s;
  if (Status s = check_extents(args, roles); !s) return s;
  if (Status s = check_sizes(roles); !s) return s;
  if (Status s = check_output_strides(args.out); !s) return s;
  const DType accumulator = accumulator_of(args);
  if (bits_of(accumulator) == 0) return invalid("The accumulator has no data type");
  if (args.math > Math::fast_bf16)
    return invalid("There is no math of number " + text(static_cast<int>(args.math)));
  if (Status s = check_controls(args.controls); !s) return s;
  if (Status s = check_tensors_of_epilogue(args); !s) return s;
  if (Status s = check_bias(args); !s) return s;
  if (Status s = check_layouts(args); !s) return s;
  const DType compute = compute_type(accumulator, args.out.dtype);
  if (Status s = check_epilogue(args.epilogue, compute); !s) return s;
  if (Status s = check_scale(args, compute); !s) return s;
  if (Status s = check_expression(args, accumulator); !s) return s;
  if (Status s = check_memory(operands); !s) return with_names(s, args.tensors);
  if (Status s = check_overlaps(operands); !s) return with_names(s, args.tensors);
  describe(args, problem);
  return {};
}

}  // namespace quarry::detail::conv2d
