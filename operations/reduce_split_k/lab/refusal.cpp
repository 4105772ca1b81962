#include <algorithm>
#include <optional>

#include "common/config_parts.hpp"
#include "lab/campaign/refusal.hpp"
#include "operations/reduce_split_k/lab/campaign.hpp"

namespace quarry::lab::reduce_split_k {
namespace {

bool holds(const std::string& message, std::string_view words) { return message.find(words) != message.npos; }

/// Whether the operand that a message names is an array of pointers.
bool is_named_array(const std::string& message, const ReduceSplitKArguments& args) {
  for (int i = 0; i <= static_cast<int>(last_operand); ++i) {
    const auto operand = static_cast<Operand>(i);
    const TensorView* const view = view_of(args, operand);
    if (view != nullptr && view->is_pointer_array && names(message, operand)) return true;
  }
  return false;
}

/// Whether the rule that a message names is broken; nothing where it names none.
std::optional<bool> breaks_any_rule(const std::string& message, const ReduceSplitKArguments& args) {
  if (holds(message, "which a reduction does not take")) return is_named_array(message, args);
  if (holds(message, "Operand `partials` has no slices")) return args.partials.extents[0] == 0;
  return breaks_rule(message, args.epilogue, compute_type(args.partials.dtype, args.out.dtype));
}

std::string fault_of_invalid(const Status& status, const ReduceSplitKArguments& args) {
  const std::string message = status.message();
  if (is_badly_interleaved(status, args, args.out.tag)) return "";
  const std::optional<bool> broken = breaks_any_rule(message, args);
  if (!broken) return "the message names no rule: " + message;
  return *broken ? "" : "no rule is broken: " + message;
}

/// Whether the kernel has not what it was refused for.
bool is_true(const Status& status, const KernelMetadata& kernel, const ReduceSplitKArguments& args,
             const DeviceModel& device) {
  const OperandsMetadata& operands = kernel.operands;
  const bool is_out = status.operand() == Operand::out;
  switch (status.reason()) {
    case Reason::dtype:
      return is_out ? args.out.dtype != operands.out.dtype : args.partials.dtype != operands.accumulator;
    case Reason::layout:
      return args.out.tag == LayoutTag::strided ? is_interleaved(operands.out.layout)
                                                : layout_of(args.out.tag) != operands.out.layout;
    case Reason::compute_capability:
      return device.cc < kernel.cc || (kernel.max_cc && device.cc > *kernel.max_cc);
    default: return holds(status.message(), "expected packed slices") && !is_packed(args.partials);
  }
}

}  // namespace

bool is_packed(const TensorView& partials) {
  std::int64_t packed = 1;
  for (std::size_t i = partials.rank; i-- > 0;) {
    if (partials.extents[i] > 1 && partials.strides[i] != packed) return false;
    packed *= partials.extents[i];
  }
  return true;
}

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const ReduceSplitKArguments& args, const DeviceModel& device) {
  const std::string message = status.message();
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  if (status.code() != StatusCode::unsupported) return "refused with another code: " + message;
  const bool named = names(message, Operand::partials) || names(message, Operand::out) ||
                     message.starts_with("The device is");
  if (!named) return "the message names no cause: " + message;
  return is_true(status, kernel, args, device) ? "" : "the cause is not true: " + message;
}

std::string fault_of_empty_answer(const Status& status, const ReduceSplitKArguments& args) {
  const std::string message = status.message();
  switch (status.code()) {
    case StatusCode::invalid_arguments: return fault_of_invalid(status, args);
    case StatusCode::no_kernel: {
      const bool named = message.starts_with("No kernel is registered for") &&
                         holds(message, "partials " + std::string(to_string(args.partials.dtype))) &&
                         holds(message, "out " + std::string(to_string(args.out.dtype)));
      return named ? "" : "the message does not name the types: " + message;
    }
    case StatusCode::unsupported:
    case StatusCode::filtered_out: {
      const bool named = holds(message, "Operand `") || holds(message, "The filter") ||
                         holds(message, "machine code") || holds(message, "The device is");
      return named ? "" : "the message names no cause: " + message;
    }
    default: return "answered with another code: " + message;
  }
}

}  // namespace quarry::lab::reduce_split_k
