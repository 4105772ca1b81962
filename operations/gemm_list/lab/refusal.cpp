/// Whether refusals of lists of GEMMs say what is wrong, and say the truth.
#include <optional>
#include <utility>

#include "common/config_parts.hpp"
#include "lab/campaign/refusal.hpp"
#include "operations/gemm/lab/campaign_scales.hpp"
#include "operations/gemm/lab/many_refusals.hpp"
#include "operations/gemm_list/expression.hpp"
#include "operations/gemm_list/lab/campaign.hpp"
#include "operations/gemm_list/lab/expression.hpp"

namespace quarry::lab::gemm_list {
namespace {

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

/// Whether the kernel has not what it was refused for.
bool is_true(const Status& status, const KernelMetadata& kernel, const GemmListArguments& args,
             const DeviceModel& device) {
  if (status.reason() == Reason::leading_alignment && status.operand() == Operand::leading)
    return promises_too_little(args, kernel.operands);
  if (const std::optional<bool> cause = is_common_cause(status, kernel, args, device)) return *cause;
  return refuses_expression(status.message(), kernel, args).value_or(false);
}

}  // namespace

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GemmListArguments& args, const DeviceModel& device) {
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  return fault_of_cause(status, is_true(status, kernel, args, device));
}

std::string fault_of_empty_answer(const Status& status, const GemmListArguments& args) {
  const std::string message = status.message();
  switch (status.code()) {
    case StatusCode::invalid_arguments: return fault_of_invalid(status, args);
    case StatusCode::no_kernel:
      return fault_of_no_kernel(status, "lists of GEMMs", args.a.dtype, args.out.dtype);
    case StatusCode::unsupported:
    case StatusCode::filtered_out: {
      const bool named = names_common_cause(message) || holds(message, "`leading_alignment`");
      return named ? "" : "the message names no cause: " + message;
    }
    default: return "answered with another code: " + message;
  }
}

}  // namespace quarry::lab::gemm_list
