/// Whether refusals of grouped GEMMs say what is wrong, and say the truth.
#include <optional>

#include "common/config_parts.hpp"
#include "lab/campaign/refusal.hpp"
#include "operations/gemm/lab/campaign_scales.hpp"
#include "operations/gemm/lab/many_refusals.hpp"
#include "operations/grouped_gemm/lab/beginnings.hpp"
#include "operations/grouped_gemm/lab/campaign.hpp"
#include "operations/grouped_gemm/lab/expression.hpp"

namespace quarry::lab::grouped_gemm {
namespace {

std::int64_t groups_of(const GroupedGemmArguments& args) {
  return args.out.rank == 3 ? args.out.extents[0] : args.b.extents[0];
}

/// Whether the rule about sizes that a status names is broken; nothing where it names none.
std::optional<bool> breaks_rule_of_sizes(const Status& status, const GroupedGemmArguments& args) {
  const std::string message = status.message();
  if (holds(message, "The sizes of masked groups are counts"))
    return args.a.rank == 3 && args.sizes_are == SizesAre::ends;
  if (holds(message, "is unsupported with ragged K"))
    return args.a.rank == 2 && args.out.rank == 3 && (args.a_scale || args.b_scale);
  if (status.operand() == Operand::sizes) {
    if (status.reason() == Reason::dtype) return args.sizes.dtype != DType::s32;
    if (status.reason() == Reason::extent) return args.sizes.extents[0] != groups_of(args);
  }
  if (holds(message, "Operand `sizes` is not contiguous")) return args.sizes.strides[0] != 1;
  return std::nullopt;
}

std::string fault_of_invalid(const Status& status, const GroupedGemmArguments& args) {
  const std::string message = status.message();
  const DType sums = args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
  const DType compute = compute_type(sums, args.out.dtype);
  std::optional<bool> broken = breaks_rule_of_sizes(status, args);
  if (!broken) broken = breaks_rule_of_scales(message, args, compute);
  if (!broken) broken = breaks_rule(message, args.epilogue, compute);
  if (!broken) return "the message names no rule: " + message;
  return *broken ? "" : "no rule is broken: " + message;
}

/// Whether what a kernel says of the expression that it refuses is true; nothing where it says nothing of it.
std::optional<bool> refuses_expression(const std::string& message, const KernelMetadata& kernel,
                                       const GroupedGemmArguments& args) {
  const gemm::WideParts parts = args.expression ? gemm::wide_parts(*args.expression) : gemm::WideParts();
  const std::int64_t tile = kernel.design.tile.n;
  const std::int64_t half = args.out.extents[args.out.rank - 1U];
  if (message.starts_with("The expression is unsupported"))
    return args.expression && kernel.operands.scales != ScaleSupport::none;
  if (message.starts_with("Tiles of ")) return parts.pairs && !takes_expression(kernel, {.pairs = true});
  if (message.starts_with("The halves of operand `b` are a gated pair"))
    return parts.pairs && kernel.operands.b.layout == Layout::row && half % kernel.operands.b.alignment != 0;
  if (message.starts_with("Groups of 128 columns are reduced by"))
    return parts.groups && tile % (parts.pairs ? 256 : 128) != 0;
  return std::nullopt;
}

/// Whether the kernel has not what it was refused for.
bool is_true(const Status& status, const KernelMetadata& kernel, const GroupedGemmArguments& args,
             const DeviceModel& device) {
  if (const std::optional<bool> cause = is_common_cause(status, kernel, args, device)) return *cause;
  if (status.message().starts_with("Ragged K is unsupported"))
    return args.a.rank == 2 && args.out.rank == 3 && !begins_at_any_k(kernel);
  if (status.message().starts_with("Contiguous groups are unsupported"))
    return args.out.rank == 2 && !begins_at_any_row(kernel);
  return refuses_expression(status.message(), kernel, args).value_or(false);
}

}  // namespace

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel,
                             const GroupedGemmArguments& args, const DeviceModel& device) {
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  return fault_of_cause(status, is_true(status, kernel, args, device));
}

std::string fault_of_empty_answer(const Status& status, const GroupedGemmArguments& args) {
  const std::string message = status.message();
  switch (status.code()) {
    case StatusCode::invalid_arguments: return fault_of_invalid(status, args);
    case StatusCode::no_kernel:
      return fault_of_no_kernel(status, "grouped GEMMs", args.a.dtype, args.out.dtype);
    case StatusCode::unsupported:
    case StatusCode::filtered_out: {
      const bool named = names_common_cause(message) || holds(message, "Contiguous groups are unsupported") ||
                         holds(message, "Ragged K is unsupported");
      return named ? "" : "the message names no cause: " + message;
    }
    default: return "answered with another code: " + message;
  }
}

}  // namespace quarry::lab::grouped_gemm
