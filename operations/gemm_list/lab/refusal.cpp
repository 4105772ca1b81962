/// Whether refusals of lists of GEMMs say what is wrong, and say the truth.
#include <optional>
#include <utility>

#include "common/config_parts.hpp"
#include "lab/campaign/refusal.hpp"
#include "operations/gemm/lab/campaign_scales.hpp"
#include "operations/gemm_list/expression.hpp"
#include "operations/gemm_list/lab/campaign.hpp"
#include "operations/gemm_list/lab/expression.hpp"

namespace quarry::lab::gemm_list {
namespace {

bool holds(const std::string& message, std::string_view words) { return message.find(words) != message.npos; }

/// The table that a status is about; null where it is about none.
const TensorView* table_of(const Status& status, const GemmListArguments& args) {
  const std::string message = status.message();
  if (status.operand() == Operand::sizes || holds(message, "Operand `sizes`")) return &args.sizes;
  const bool is_leading = status.operand() == Operand::leading || holds(message, "Operand `leading`");
  return is_leading && args.leading ? &*args.leading : nullptr;
}

/// Whether lines of a matrix are not contiguous, or overlap.
bool has_no_lines(const TensorView& view) {
  const std::size_t r = view.rank - 2U;
  const std::size_t c = view.rank - 1U;
  if (view.strides[c] != 1 && view.strides[r] != 1) return true;
  const bool by_columns = view.strides[c] != 1;
  return view.extents[by_columns ? c : r] > 1 &&
         view.strides[by_columns ? c : r] < view.extents[by_columns ? r : c];
}

/// Whether the rule about sizes or leading dimensions that a status names is broken; nothing where it names
/// none.
std::optional<bool> breaks_rule_of_list(const Status& status, const GemmListArguments& args) {
  const std::string message = status.message();
  if (const TensorView* const table = table_of(status, args)) {
    if (status.reason() == Reason::dtype) return table->dtype != DType::s32;
    if (status.reason() == Reason::rows) return table->extents[0] != args.out.extents[0];
    if (status.reason() == Reason::columns)
      return table->extents[1] != (table == &args.sizes ? list_extents : list_matrices);
    if (holds(message, "is not contiguous")) return table->strides[1] != 1;
  }
  if (!holds(message, "beside `leading`") && !holds(message, "and `leading` says")) return std::nullopt;
  const std::pair<const TensorView*, Operand> matrices[] = {{&args.a, Operand::a},
                                                            {&args.b, Operand::b},
                                                            {args.c ? &*args.c : nullptr, Operand::c},
                                                            {&args.out, Operand::out}};
  for (const auto& [view, name] : matrices) {
    if (view != nullptr && holds(message, "Operand `" + std::string(to_string(name)) + "`"))
      return args.leading && has_no_lines(*view);
  }
  return std::nullopt;
}

std::string fault_of_invalid(const Status& status, const GemmListArguments& args) {
  const std::string message = status.message();
  std::optional<bool> broken = breaks_rule_of_list(status, args);
  if (!broken && holds(message, "promises an alignment of")) broken = promises_too_much(args);
  const DType sums = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  const DType compute = compute_type(sums, args.out.dtype);
  if (!broken) broken = breaks_rule_of_scales(message, args, compute);
  if (!broken) broken = breaks_rule(message, args.epilogue, compute);
  if (!broken) return "the message names no rule: " + message;
  return *broken ? "" : "no rule is broken: " + message;
}

/// Whether a matrix cannot be read as this layout.
bool is_other_layout(const TensorView& view, Layout wanted) {
  const std::size_t along = wanted == Layout::row ? view.rank - 1U : view.rank - 2U;
  return view.extents[along] > 1 && view.strides[along] != 1;
}

/// Whether a matrix has what it was refused for: lines of a layout that a kernel cannot copy.
bool has_fault(Reason reason, const TensorView& view, const OperandMetadata& wanted) {
  const std::size_t rows = view.rank - 2U;
  const std::size_t across = wanted.layout == Layout::row ? rows : rows + 1;
  const std::size_t along = wanted.layout == Layout::row ? rows + 1 : rows;
  const std::int64_t stride = view.extents[across] > 1 ? view.strides[across] : 0;
  const bool is_batch = view.rank == 3 && view.extents[0] > 1;
  switch (reason) {
    case Reason::pointer_alignment:
      return view.assumed_alignment % (wanted.alignment * bytes_of(view.dtype)) != 0;
    case Reason::leading_alignment: return stride % wanted.alignment != 0;
    case Reason::batch_alignment: return is_batch && view.strides[0] % wanted.alignment != 0;
    case Reason::overlapping_stride: return view.extents[across] > 1 && stride < view.extents[along];
    default: return false;
  }
}

/// Whether the sizes do not say that the halves of each problem's gated pair are a multiple of so many
/// columns.
bool lacks_whole_halves(const GemmListArguments& args, int alignment) {
  const int bound = static_cast<int>(detail::gemm_list::product_columns(args));
  if (args.host_sizes.empty() || bound / 2 % alignment != 0) return true;
  for (std::size_t i = 1; i < args.host_sizes.size(); i += list_extents) {
    if (clamped_extent(args.host_sizes[i], bound) / 2 % alignment != 0) return true;
  }
  return false;
}

/// Whether what a kernel says of the expression that it refuses is true; nothing where it says nothing of it.
std::optional<bool> refuses_expression(const std::string& message, const KernelMetadata& kernel,
                                       const GemmListArguments& args) {
  const gemm::WideParts parts = args.expression ? gemm::wide_parts(*args.expression) : gemm::WideParts();
  const OperandMetadata& b = kernel.operands.b;
  if (message.starts_with("The expression is unsupported"))
    return args.expression && kernel.operands.scales != ScaleSupport::none;
  if (message.starts_with("Tiles of ")) return parts.pairs && !takes_expression(kernel, {.pairs = true});
  if (message.starts_with("The halves of operand `b` are a gated pair"))
    return parts.pairs && !parts.eights && b.layout == Layout::row && lacks_whole_halves(args, b.alignment);
  if (message.starts_with("Groups of 128 columns are reduced by"))
    return parts.groups && kernel.design.tile.n % (parts.pairs ? 256 : 128) != 0;
  return std::nullopt;
}

/// Whether leading dimensions need not keep the alignment that a kernel needs of A or B.
bool promises_too_little(const GemmListArguments& args, const OperandsMetadata& kernel) {
  const auto lacks = [&](const OperandMetadata& needed) {
    return args.leading_alignment % needed.alignment != 0;
  };
  return args.leading && (lacks(kernel.a) || lacks(kernel.b));
}

/// Whether a kernel needs scales, of which a problem has none, or takes no blocks, which it has.
bool has_other_scales(ScaleSupport kernel, const GemmListArguments& args) {
  if (kernel == ScaleSupport::none) return false;
  if (!args.a_scale && !args.b_scale) return true;
  const bool has_blocks = (args.a_scale && is_blocked(args.a_scale_granularity)) ||
                          (args.b_scale && is_blocked(args.b_scale_granularity));
  return has_blocks && !takes_blocks(kernel);
}

/// Whether the kernel has not what it was refused for.
bool is_true(const Status& status, const KernelMetadata& kernel, const GemmListArguments& args,
             const DeviceModel& device) {
  const OperandsMetadata& o = kernel.operands;
  const Operand name = status.operand();
  const bool is_a = name == Operand::a;
  switch (status.reason()) {
    case Reason::dtype:
      if (name == Operand::out) return args.out.dtype != o.out.dtype;
      return (is_a ? args.a.dtype : args.b.dtype) != (is_a ? o.a.dtype : o.b.dtype);
    case Reason::layout: return is_other_layout(is_a ? args.a : args.b, is_a ? o.a.layout : o.b.layout);
    case Reason::compute_capability:
      return device.cc < kernel.cc || (kernel.max_cc && device.cc > *kernel.max_cc);
    case Reason::pointer_alignment:
    case Reason::leading_alignment:
      if (name == Operand::leading) return promises_too_little(args, o);
      [[fallthrough]];
    case Reason::batch_alignment:
    case Reason::overlapping_stride:
      return has_fault(status.reason(), is_a ? args.a : args.b, is_a ? o.a : o.b);
    case Reason::no_operand:
      return o.scales == ScaleSupport::none && (name == Operand::a_scale ? args.a_scale : args.b_scale);
    case Reason::granularity: return has_other_scales(o.scales, args);
    case Reason::shared_memory: return kernel.design.shared_memory > device.shared_memory_per_block;
    default:
      if (const std::optional<bool> cause = refuses_expression(status.message(), kernel, args)) return *cause;
      return status.message().starts_with("Accumulator is") &&
             args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype)) != o.accumulator;
  }
}

}  // namespace

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GemmListArguments& args, const DeviceModel& device) {
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  const std::string message = status.message();
  if (status.code() != StatusCode::unsupported) return "refused with another code: " + message;
  return is_true(status, kernel, args, device) ? "" : "the cause is not true: " + message;
}

std::string fault_of_empty_answer(const Status& status, const GemmListArguments& args) {
  const std::string message = status.message();
  switch (status.code()) {
    case StatusCode::invalid_arguments: return fault_of_invalid(status, args);
    case StatusCode::no_kernel: {
      const bool named = message.starts_with("No kernel of lists of GEMMs is registered for") &&
                         holds(message, "a " + std::string(to_string(args.a.dtype))) &&
                         holds(message, "out " + std::string(to_string(args.out.dtype)));
      return named ? "" : "the message does not name the types: " + message;
    }
    case StatusCode::unsupported:
    case StatusCode::filtered_out: {
      const bool named = holds(message, "Operand `") || holds(message, "`leading_alignment`") ||
                         holds(message, "The filter") || holds(message, "Accumulator is") ||
                         holds(message, "The expression is") || holds(message, "Groups of 128 columns") ||
                         holds(message, "Tiles of ") || holds(message, "machine code") ||
                         holds(message, "The device is");
      return named ? "" : "the message names no cause: " + message;
    }
    default: return "answered with another code: " + message;
  }
}

}  // namespace quarry::lab::gemm_list
