#include <algorithm>
#include <cstdint>
#include <optional>

#include "common/config_parts.hpp"
#include "lab/campaign/refusal.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/conv2d/lab/campaign.hpp"
#include "operations/conv2d/lab/controls.hpp"
#include "operations/conv2d/lab/expression.hpp"
#include "operations/conv2d/problem.hpp"

namespace quarry::lab::conv2d {
namespace {

using Roles = detail::conv2d::Roles;

/// A rule that a campaign's problems break now and then: what its message holds, and whether it is broken.
struct Rule {
  std::string_view words;
  bool (*is_broken)(const Conv2dArguments& args, const Roles& roles);
};

bool has_gaps(const TensorView& view) { return view.extents[3] > 1 && view.strides[3] != 1; }

std::int64_t spanned(std::int64_t taps, std::int64_t dilation) { return dilation * (taps - 1) + 1; }

/// Whether elements of the extents [first, last) do not lie at even distances, the last extent's first.
bool is_uneven(const TensorView& view, std::size_t first, std::size_t last) {
  std::int64_t inner = -1;  // the nearest extent inside, that has more than one
  for (std::size_t i = last; i-- > first;) {
    if (view.extents[i] <= 1) continue;
    if (inner >= 0) {
      std::int64_t steps = 1;  // of it, to the next of this extent
      for (std::size_t j = i + 1; j < last; ++j) steps *= view.extents[j];
      if (view.strides[i] != steps * view.strides[static_cast<std::size_t>(inner)]) return true;
    } else {
      inner = static_cast<std::int64_t>(i);
    }
  }
  return false;
}

/// Whether the output, or a tensor of the expression with its extents, is no matrix of the product.
bool has_uneven_tensor(const Conv2dArguments& args) {
  const std::size_t first_column = args.direction == Direction::wgrad ? 1 : 3;
  const auto breaks = [&](const TensorView& view) {
    return view.rank == 4 && (is_uneven(view, 0, first_column) || is_uneven(view, first_column, 4));
  };
  return breaks(args.out) ||
         std::ranges::any_of(args.tensors, [&](const ExpressionTensor& t) { return breaks(t.view); });
}

/// Whether the output, or a tensor of its extents, is so.
template <class Test>
bool any_like_out(const Conv2dArguments& a, Test is_so) {
  const Epilogue& e = a.epilogue;
  return is_so(a.out) || (a.c && is_so(*a.c)) || (e.residual && is_so(*e.residual)) ||
         (e.aux && is_so(*e.aux));
}

constexpr Rule rules[] = {
    {"The padding along",
     [](const Conv2dArguments& a, const Roles&) { return a.padding.height < 0 || a.padding.width < 0; }},
    {"The stride along",
     [](const Conv2dArguments& a, const Roles&) { return a.stride.height < 1 || a.stride.width < 1; }},
    {"The dilation along",
     [](const Conv2dArguments& a, const Roles&) { return a.dilation.height < 1 || a.dilation.width < 1; }},
    {"The number of groups", [](const Conv2dArguments& a, const Roles&) { return a.groups < 1; }},
    {"does not have contiguous channels",
     [](const Conv2dArguments& a, const Roles&) {
       return has_gaps(a.a) || has_gaps(a.b) || any_like_out(a, has_gaps);
     }},
    {"Groups do not divide",
     [](const Conv2dArguments& a, const Roles& r) {
       return r.activations.extents[3] % a.groups != 0 || r.filters.extents[0] % a.groups != 0;
     }},
    {"has filters of",
     [](const Conv2dArguments& a, const Roles& r) {
       return r.filters.extents[3] * a.groups != r.activations.extents[3];
     }},
    {"expected one for each of the",
     [](const Conv2dArguments&, const Roles& r) { return r.output.extents[3] != r.filters.extents[0]; }},
    {"images: expected",
     [](const Conv2dArguments&, const Roles& r) { return r.output.extents[0] != r.activations.extents[0]; }},
    {"The filter is larger than the padded image",
     [](const Conv2dArguments& a, const Roles& r) {
       const auto& x = r.activations.extents;
       const auto& w = r.filters.extents;
       return spanned(w[1], a.dilation.height) > x[1] + 2 * a.padding.height ||
              spanned(w[2], a.dilation.width) > x[2] + 2 * a.padding.width;
     }},
    {"has images of",
     [](const Conv2dArguments& a, const Roles& r) {
       const auto& x = r.activations.extents;
       const auto& w = r.filters.extents;
       const auto& y = r.output.extents;
       return y[1] != window_positions(x[1], w[1], a.padding.height, a.stride.height, a.dilation.height) ||
              y[2] != window_positions(x[2], w[2], a.padding.width, a.stride.width, a.dilation.width);
     }},
    {"expected fprop of one group",
     [](const Conv2dArguments& a, const Roles&) { return a.direction != Direction::fprop || a.groups != 1; }},
    {"is not laid out as images",
     [](const Conv2dArguments& a, const Roles&) {
       const auto is_odd = [](const TensorView& view) { return !detail::has_image_order(view); };
       return is_odd(a.a) || any_like_out(a, is_odd);
     }},
    {"is not laid out as filters",
     [](const Conv2dArguments& a, const Roles&) { return !detail::has_filter_order(a.b); }},
    {"its strides fit neither",
     [](const Conv2dArguments& a, const Roles&) {
       return has_no_order(a.a) || has_no_order(a.b) || any_like_out(a, has_no_order);
     }},
    {"which is for operands of s8 and u8",
     [](const Conv2dArguments& a, const Roles&) {
       return !is_byte(a.a.dtype) || !is_byte(a.b.dtype) || !takes_integer_sums(a.out.dtype);
     }},
    {"does not have its elements at even distances",
     [](const Conv2dArguments& a, const Roles&) { return a.expression && has_uneven_tensor(a); }},
    {"with an expression it is strided",
     [](const Conv2dArguments& a, const Roles&) { return a.expression && a.out.tag != LayoutTag::strided; }},
    {"wgrad takes none",
     [](const Conv2dArguments& a, const Roles&) {
       return (a.epilogue.bias || a.epilogue.scale) && a.direction == Direction::wgrad;
     }},
};

/// Whether elements share memory, of a view whose strides descend.
bool overlaps(const TensorView& view) {
  std::int64_t reached = 0;
  for (std::size_t axis = view.rank; axis-- > 0;) {
    if (view.extents[axis] > 1 && view.strides[axis] <= reached) return true;
    reached += (view.extents[axis] - 1) * view.strides[axis];
  }
  return false;
}

/// Whether the pointer or a stride in use is no multiple of so many bytes.
bool is_misaligned(const TensorView& view, int bytes = 16) {
  if (view.assumed_alignment % bytes != 0 && view.data == nullptr) return true;
  if (reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(bytes) != 0) return true;
  for (std::size_t i = 0; i < 3; ++i) {
    if (view.extents[i] > 1 && view.strides[i] * bytes_of(view.dtype) % bytes != 0) return true;
  }
  return false;
}

/// Whether an output, or C, is no matrix: of filters, one with all elements of a filter behind one another.
bool is_no_matrix(const TensorView& view, Direction direction) {
  if (direction != Direction::wgrad) return is_uneven(view, 0, 3);
  const auto& e = view.extents;
  return is_uneven(view, 1, 3) || (e[2] > 1 && view.strides[2] != e[3]) ||
         (e[2] <= 1 && e[1] > 1 && view.strides[1] != e[3]);
}

/// Which of its operands the output, or a tensor of its extents, is.
Operand name_of(const TensorView& view, const Conv2dArguments& args) {
  if (&view == &args.out) return Operand::out;
  if (args.c && &view == &*args.c) return Operand::c;
  return args.epilogue.residual && &view == &*args.epilogue.residual ? Operand::residual : Operand::aux;
}

/// Whether the problem has an operand of the epilogue that the kernel does not take.
bool lacks(const EpilogueMetadata& kernel, const Epilogue& epilogue, Operand name) {
  switch (name) {
    case Operand::scale: return epilogue.scale && !kernel.scale;
    case Operand::residual: return epilogue.residual && !kernel.residual;
    case Operand::aux: return epilogue.aux && !kernel.aux;
    default: return false;
  }
}

/// Whether a scale varies by channels, and groups have no whole quads of them.
bool splits_quads_of_scale(const Conv2dArguments& args) {
  const auto& scale = args.epilogue.scale;
  return scale && scale->extents[0] > 1 && args.groups > 1 && args.out.extents[3] / args.groups % 4 != 0;
}

/// What copies that walk over pixels do not take: what the message holds, and whether it is true.
constexpr Rule walk_rules[] = {
    {"groups: this kernel takes", [](const Conv2dArguments& a, const Roles&) { return a.groups != 1; }},
    {"channels: this kernel takes multiples of ",
     [](const Conv2dArguments& a, const Roles& r) {
       return a.direction == Direction::wgrad && r.filters.extents[3] % 64 != 0;
     }},
    {"The filter along",
     [](const Conv2dArguments& a, const Roles& r) {
       return spanned(r.filters.extents[1], a.dilation.height) > 256 ||
              spanned(r.filters.extents[2], a.dilation.width) > 256;
     }},
    {"Images have no pixels",
     [](const Conv2dArguments& a, const Roles& r) {
       const TensorView& walked = a.direction == Direction::dgrad ? r.output : r.activations;
       return walked.extents[1] == 0 || walked.extents[2] == 0;
     }},
    {"from the image's edge",
     [](const Conv2dArguments& a, const Roles& r) {
       const std::int64_t reach[] = {a.padding.height, a.padding.width,
                                     spanned(r.filters.extents[1], a.dilation.height),
                                     spanned(r.filters.extents[2], a.dilation.width)};
       return *std::ranges::max_element(reach) > 63;  // in front and behind together
     }},
    {"`a` is misaligned", [](const Conv2dArguments& a, const Roles&) { return is_misaligned(a.a); }},
    {"`b` is misaligned", [](const Conv2dArguments& a, const Roles&) { return is_misaligned(a.b); }},
    {"`out` is no matrix",
     [](const Conv2dArguments& a, const Roles&) { return is_no_matrix(a.out, a.direction); }},
    {"`c` is no matrix",
     [](const Conv2dArguments& a, const Roles&) { return a.c && is_no_matrix(*a.c, a.direction); }},
    {"`residual` is no matrix",
     [](const Conv2dArguments& a, const Roles&) {
       return a.epilogue.residual && is_no_matrix(*a.epilogue.residual, a.direction);
     }},
    {"`aux` is no matrix",
     [](const Conv2dArguments& a, const Roles&) {
       return a.epilogue.aux && is_no_matrix(*a.epilogue.aux, a.direction);
     }},
    {"`a` is no matrix", [](const Conv2dArguments& a, const Roles&) { return is_uneven(a.a, 0, 3); }},
    {"`b` is no list of taps", [](const Conv2dArguments& a, const Roles&) { return is_uneven(a.b, 1, 3); }},
};

/// Whether copies of pieces of channels cannot take an operand for the reason that a message names.
/// @param channels of a group
bool is_refused_piece(const std::string& message, const TensorView& view, const OperandMetadata& operand,
                      std::int64_t channels) {
  if (message.find("is misaligned") != message.npos)
    return is_misaligned(view, operand.alignment * bytes_of(operand.dtype));
  return message.find(std::to_string(channels) + " channels in a group") != message.npos &&
         channels % operand.alignment != 0;
}

/// What copies of pieces do not take, where a message names one of the operands.
std::optional<bool> breaks_pieces(const std::string& message, const KernelMetadata& kernel,
                                  const Conv2dArguments& args) {
  if (kernel.design.copy_engine) return std::nullopt;
  const Roles roles = detail::conv2d::roles_of(args);
  const std::int64_t channels = roles.filters.extents[3];
  const std::int64_t filters = roles.filters.extents[0] / args.groups;
  if (message.starts_with("Operand `a` ")) {
    return is_refused_piece(message, args.a, kernel.operands.a,
                            args.direction == Direction::fprop ? channels : filters);
  }
  if (message.starts_with("Operand `b` "))
    return is_refused_piece(message, args.b, kernel.operands.b, channels);
  return std::nullopt;
}

/// What kernels do not take that know strides, filters or channels beforehand.
std::optional<bool> breaks_windows(const std::string& message, const KernelMetadata& kernel,
                                   const Conv2dArguments& args) {
  const DesignMetadata& design = kernel.design;
  const bool walks = design.copy_engine.has_value();
  const Roles roles = detail::conv2d::roles_of(args);
  const auto& w = roles.filters.extents;
  if (message.starts_with("The stride along")) {
    const std::int64_t stride = std::max(args.stride.height, args.stride.width);
    return (design.strides == WindowStrides::unity && stride > 1) ||
           (design.strides == WindowStrides::strided && stride > 8);
  }
  if (walks) return std::nullopt;
  if (message.find("filters of 1x1 without padding") != message.npos) {
    const bool is_one = w[1] == 1 && w[2] == 1 && args.padding == ImageAxes{0, 0};
    return design.filter == WindowFilter::one && !is_one;
  }
  if (message.find("elements, where channels are even") != message.npos)
    return design.iterator == WindowIterator::window &&
           w[1] * w[2] * (w[3] + w[3] % 2) > std::int64_t{design.stages.value_or(1)} * design.tile.k;
  if (message.starts_with("A window spans ")) {
    const std::int64_t pixels =
        (args.dilation.height * (w[1] - 1) + 1) * (args.dilation.width * (w[2] - 1) + 1);
    constexpr std::int64_t least_room = 18 * 1024;
    return design.iterator == WindowIterator::window && 2 * pixels * (w[3] + w[3] % 2) > least_room;
  }
  const bool is_window = design.iterator == WindowIterator::window;
  if (message.find("is no matrix: this kernel needs filters") != message.npos) {
    const auto is_named = [&](const TensorView& view) {
      return message.starts_with("Operand `" + std::string(to_string(name_of(view, args))) + "`");
    };
    return is_window && any_like_out(args, [&](const TensorView& view) {
             return is_named(view) && is_no_matrix(view, args.direction);
           });
  }
  if (message.starts_with("Outputs of a tile lie ")) {
    const auto spans = [](const TensorView& view) {
      return std::max(view.strides[1], view.strides[2]) >= (1 << 30) / 2 / (9 * 1024);
    };
    return is_window && (spans(args.a) || spans(args.b));
  }
  if (message.find("channels along K") == message.npos) return std::nullopt;
  const std::int64_t channels = args.direction == Direction::dgrad ? w[0] / args.groups : w[3];
  if (design.iterator == WindowIterator::optimized) return channels % design.tile.k != 0;
  return design.iterator == WindowIterator::fixed_channels && channels != kernel.operands.a.alignment;
}

std::string fault_of_invalid(const Status& status, const Conv2dArguments& args) {
  const std::string message = status.message();
  if (const TensorView* const view = view_of(args, status.operand());
      view != nullptr && status.reason() == Reason::rank)
    return view->rank != 4 ? "" : "the rank is 4: " + message;
  if (status.reason() == Reason::overlapping_stride)  // an extent was spoiled
    return overlaps(args.out) ? "" : "nothing overlaps: " + message;
  if (status.operand() == Operand::c && status.reason() == Reason::extent) return "";  // out was spoiled
  if (const TensorView* const view = view_of(args, status.operand());
      view != nullptr && view->rank == 4 && status.reason() == Reason::extent)
    return view->extents != args.out.extents ? "" : "the extents are the same: " + message;
  if (status.reason() == Reason::tag || status.reason() == Reason::interleaved_extent)
    return is_badly_interleaved(status, args, args.out.tag) ? "" : "no rule is broken: " + message;
  if (message.find("Control `swizzle`") != message.npos)
    return has_odd_swizzle(args.controls) ? "" : "no rule is broken: " + message;
  for (const Rule& rule : rules) {
    if (message.find(rule.words) == message.npos) continue;
    return rule.is_broken(args, detail::conv2d::roles_of(args)) ? "" : "no rule is broken: " + message;
  }
  const DType compute = compute_type(type_key(args).accumulator, args.out.dtype);
  const std::optional<bool> broken = breaks_rule(message, args.epilogue, compute);
  if (!broken) return "the message names no rule: " + message;
  return *broken ? "" : "no rule is broken: " + message;
}

}  // namespace

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const Conv2dArguments& args,
                             const DeviceModel& device) {
  const std::string message = status.message();
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  if (status.code() != StatusCode::unsupported) return "refused with another code: " + message;
  const TypeKey has = type_key(kernel);
  const TypeKey wants = type_key(args);
  const auto fault = [&](bool is_true) { return is_true ? "" : "the cause is not true: " + message; };
  if (message.starts_with("Direction `")) return fault(has.direction != wants.direction);
  if (message.starts_with("Channels in groups of 32 are") || message.starts_with("Neighbouring channels are"))
    return fault(is_interleaved(kernel.operands.out.layout) != (args.out.tag != LayoutTag::strided));
  if (message.starts_with("Accumulator is")) return fault(has.accumulator != wants.accumulator);
  if (message.starts_with("Math is"))
    return fault(kernel.design.math != Math::exact && kernel.design.math != args.math);
  if (message.starts_with("The expression is unsupported"))
    return fault(args.expression && !takes_expressions(kernel));
  if (const std::optional<bool> broken = breaks_controls(status, kernel, args)) return fault(*broken);
  if (status.reason() == Reason::no_operand)
    return fault(lacks(kernel.epilogue, args.epilogue, status.operand()));
  if (message.find("a scale of several groups") != message.npos) return fault(splits_quads_of_scale(args));
  if (message.starts_with("The device is"))
    return fault(device.cc < kernel.cc || (kernel.max_cc && device.cc > *kernel.max_cc));
  if (status.reason() == Reason::overlapping_stride) {
    const TensorView* const view = view_of(args, status.operand());
    bool repeats = false;
    for (std::size_t i = 0; i < 3; ++i) repeats = repeats || (view->extents[i] > 1 && view->strides[i] == 0);
    return fault(repeats);
  }
  if (status.reason() != Reason::dtype) {
    if (const std::optional<bool> broken = breaks_pieces(message, kernel, args)) return fault(*broken);
    if (const std::optional<bool> broken = breaks_windows(message, kernel, args)) return fault(*broken);
  }
  for (const Rule& rule : walk_rules) {
    if (message.find(rule.words) != message.npos)
      return fault(kernel.design.copy_engine.has_value() &&
                   rule.is_broken(args, detail::conv2d::roles_of(args)));
  }
  if (status.reason() != Reason::dtype) return "the message names no cause: " + message;
  switch (status.operand()) {
    case Operand::a: return fault(has.a != wants.a);
    case Operand::b: return fault(has.b != wants.b);
    default: return fault(has.out != wants.out);
  }
}

std::string fault_of_empty_answer(const Status& status, const Conv2dArguments& args) {
  const std::string message = status.message();
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  if (status.code() == StatusCode::filtered_out || status.code() == StatusCode::unsupported) {
    const bool named =
        message.find("The filter") != message.npos || message.find("machine code") != message.npos ||
        message.find("Control `") != message.npos || message.find("Mode `") != message.npos ||
        message.find("The device is") != message.npos || message.find("The expression is") != message.npos;
    return named ? "" : "the message names no cause: " + message;
  }
  if (status.code() != StatusCode::no_kernel) return "answered with another code: " + message;
  const bool named = message.find("No kernel is registered for") != message.npos &&
                     message.find("out " + std::string(to_string(args.out.dtype))) != message.npos;
  return named ? "" : "the message does not name the types: " + message;
}

}  // namespace quarry::lab::conv2d
