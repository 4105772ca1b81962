#include "operations/gemm/lab/refusal.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "common/config_parts.hpp"
#include "gemm/operand_scale.hpp"
#include "lab/campaign/refusal.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/lab/expression.hpp"

namespace quarry::lab::gemm {
namespace {

const OperandMetadata* metadata_of(const KernelMetadata& kernel, Operand operand) {
  switch (operand) {
    case Operand::a:
    case Operand::a_scale: return &kernel.operands.a;
    case Operand::b:
    case Operand::b_scale:
    case Operand::b_zero: return &kernel.operands.b;
    case Operand::c: return &kernel.operands.c;
    case Operand::out:
    case Operand::residual:
    case Operand::aux: return &kernel.operands.out;
    default: return nullptr;
  }
}

/// A matrix as a layout sees it.
struct Lines {
  std::int64_t length, count, along, across, batch_stride;
};

Lines lines_of(const TensorView& view, Layout layout) {
  const std::size_t rows = view.rank - 2U;
  const std::size_t along = layout == Layout::row ? rows + 1 : rows;
  const std::size_t across = layout == Layout::row ? rows : rows + 1;
  const bool batched = view.rank == 3 && view.extents[0] > 1 && !view.is_pointer_array;
  if (view.tag != LayoutTag::strided) {
    const std::size_t grouped = view.tag == LayoutTag::row_interleaved32 ? rows : rows + 1;
    return {interleave, view.extents[grouped] / interleave, 1, view.strides[grouped],
            batched ? view.strides[0] : 0};
  }
  return {view.extents[along], view.extents[across], view.strides[along], view.strides[across],
          batched ? view.strides[0] : 0};
}

/// Whether a view has another layout than the wanted one.
bool is_other_layout(const TensorView& view, Layout wanted) {
  if (view.tag != LayoutTag::strided) return layout_of(view.tag) != wanted;
  if (is_interleaved(wanted)) return true;
  const Lines lines = lines_of(view, wanted);
  return lines.length > 1 && lines.along != 1;
}

/// Whether a view's pointer is less aligned than a kernel needs.
bool has_misaligned_pointer(const TensorView& view, const OperandMetadata& wanted) {
  return view.assumed_alignment % bytes_for(view.dtype, wanted.alignment) != 0;
}

/// Whether an operand has what it was refused for.
bool has_fault(Reason reason, const TensorView& view, const OperandMetadata& wanted,
               const ModesMetadata& modes) {
  const Lines lines = lines_of(view, wanted.layout);
  switch (reason) {
    case Reason::dtype: return view.dtype != wanted.dtype;
    case Reason::layout: return is_other_layout(view, wanted.layout);
    case Reason::pointer_alignment: return has_misaligned_pointer(view, wanted);
    case Reason::leading_alignment: return lines.count > 1 && lines.across % wanted.alignment != 0;
    case Reason::batch_alignment: return lines.batch_stride % wanted.alignment != 0;
    case Reason::mode_array: return view.is_pointer_array && !modes.array;
    case Reason::overlapping_stride: return lines.count > 1 && lines.across < lines.length;
    default: return false;
  }
}

/// Whether the copy engine reads a matrix in a layout.
bool is_readable(const TensorView& view, Layout layout) {
  const OperandMetadata wanted = {view.dtype, layout, 128 / bits_of(view.dtype)};
  const Lines lines = lines_of(view, layout);
  return !is_other_layout(view, layout) && !has_misaligned_pointer(view, wanted) &&
         (lines.count <= 1 || (lines.across != 0 && lines.across % wanted.alignment == 0)) &&
         lines.batch_stride % wanted.alignment == 0;
}

/// Whether the code behind copies takes an operand as it is: of 16 bits in its layout, of others along K.
bool needs_no_copy(const TensorView& view, const OperandMetadata& operand, Layout along_k) {
  return is_readable(view, bits_of(view.dtype) == 16 ? operand.layout : along_k);
}

/// The modes that a kernel has for a problem.
ModesMetadata modes_for(const GemmArguments& args, ModesMetadata modes) {
  if (args.expression && detail::is_wide(*args.expression))
    modes.split_k_parallel = modes.split_k_cluster = false;
  return modes;
}

bool permits(const ModesMetadata& modes, Mode mode) {
  switch (mode) {
    case Mode::split_k_serial: return modes.split_k_serial;
    case Mode::split_k_parallel: return modes.split_k_parallel;
    case Mode::split_k_cluster: return modes.split_k_cluster;
    case Mode::stream_k: return modes.stream_k;
    default: return true;
  }
}

/// The products that an output sums.
std::int64_t summed_k(const GemmArguments& args) {
  const bool zero = args.epilogue.alpha.pointer == nullptr && args.epilogue.alpha.value == 0;
  return zero ? 0 : args.a.extents[args.a.rank - 1U];
}

bool must_promote(const GemmArguments& args) {
  return args.accumulation == Accumulation::precise && is_fp8(args.a.dtype) && summed_k(args) > 0;
}

/// Whether a kernel takes no zero points, which are there; or needs some, and there are none.
bool has_other_zeros(const Status& status, const KernelMetadata& kernel, const GemmArguments& args) {
  const bool takes_zeros = kernel.operands.scales == ScaleSupport::zero_points;
  if (summed_k(args) == 0 || takes_zeros == args.b_zero.has_value()) return false;
  return status.reason() == (takes_zeros ? Reason::missing : Reason::no_operand);
}

/// Whether scales, by which something is multiplied, are such as a kernel does not take: some, where it takes
/// none; blocks, where it takes vectors; or none, where it needs some.
bool has_other_scales(const Status& status, const KernelMetadata& kernel, const GemmArguments& args) {
  const Operand operand = status.operand();
  const ScaleSupport support = kernel.operands.scales;
  const bool is_scale = operand == Operand::a_scale || operand == Operand::b_scale;
  if (!is_scale || (summed_k(args) == 0 && !args.expression)) return false;
  if (support != ScaleSupport::none && !args.a_scale && !args.b_scale) {
    const bool may_lack_scales = support == ScaleSupport::group_scales ||
                                 (support == ScaleSupport::block_scales && must_promote(args));
    return !may_lack_scales && status.reason() == Reason::granularity;
  }
  if (view_of(args, operand) == nullptr) return false;
  if (status.reason() == Reason::no_operand) return support == ScaleSupport::none;
  const bool of_a = operand == Operand::a_scale;
  const ScaleGranularity given = of_a ? args.a_scale_granularity : args.b_scale_granularity;
  if (support == ScaleSupport::block_scales) return is_grouped(given);
  return support == ScaleSupport::vector_scales && is_blocked(given);
}

/// Whether the kernel cannot cut K into as many slices as are asked for.
bool has_too_many_slices(const KernelMetadata& kernel, const GemmArguments& args) {
  const std::int64_t slices = args.controls.split_k_slices.value_or(1);
  const std::int64_t k = summed_k(args);
  const int tile = kernel.design.tile.k;
  const ModesMetadata modes = modes_for(args, kernel.modes);
  const bool never = !modes.split_k_serial && !modes.split_k_parallel && !modes.split_k_cluster;
  const bool by_cluster = args.controls.mode == Mode::split_k_cluster ||
                          (!kernel.modes.split_k_serial && !kernel.modes.split_k_parallel);
  return slices > 1 && (never || slices > (k + tile - 1) / tile || (by_cluster && slices > portable_cluster));
}

/// Whether controls or device have what a kernel was refused for.
bool has_fault(Reason reason, const KernelMetadata& kernel, const GemmArguments& args,
               const DeviceModel& device) {
  const Controls& controls = args.controls;
  const DesignMetadata& design = kernel.design;
  const bool is_persistent = design.schedule && *design.schedule != Schedule::one_tile;
  const Cluster cluster = design.cluster.value_or(Cluster{});
  switch (reason) {
    case Reason::mode: return controls.mode && !permits(kernel.modes, *controls.mode);
    case Reason::split_k_slices: return has_too_many_slices(kernel, args);
    case Reason::k_limit:
      return kernel.epilogue.fast_clamp && args.a.extents[args.a.rank - 1U] > fast_clamp_most_k;
    case Reason::control: return controls.multiprocessors && !is_persistent;
    case Reason::multiprocessors:
      return controls.multiprocessors && *controls.multiprocessors < cluster.m * cluster.n;
    case Reason::compute_capability:
      return device.cc < kernel.cc || (kernel.max_cc && device.cc > *kernel.max_cc);
    case Reason::shared_memory: return design.shared_memory > device.shared_memory_per_block;
    default: return false;
  }
}

/// How a message begins that names a control, the device or a type which no operand has.
constexpr std::string_view other_causes[] = {"Accumulator is",
                                             "Accumulation is",
                                             "Math is",
                                             "K is",
                                             "Mode `",
                                             "Control `",
                                             "The device is",
                                             "Gated pairs",
                                             "Groups of",
                                             "Tiles of",
                                             "The halves of",
                                             "The expression is",
                                             "Nothing has to be copied"};

bool names_other_cause(const std::string& message) {
  return std::ranges::any_of(other_causes,
                             [&](std::string_view cause) { return message.starts_with(cause); });
}

/// Whether a text about gated pairs and reductions is true.
bool is_true_of_wide(const std::string& message, const KernelMetadata& kernel, const GemmArguments& args) {
  if (!args.expression) return false;
  const WideParts parts = wide_parts(*args.expression);
  const detail::ReductionCounts counts = detail::reduction_counts(*args.expression);
  const bool by_rows = parts.pairs || counts.groups + counts.rows + counts.columns > 0;
  const bool is_exchanged =
      kernel.operands.out.layout != Layout::row || kernel.design.orientation == Orientation::exchanged;
  for (const Mode mode : {Mode::split_k_parallel, Mode::split_k_cluster}) {
    if (message.starts_with("Mode `" + std::string(to_string(mode)) + "`"))
      return detail::is_wide(*args.expression) && args.controls.mode == mode;
  }
  if (message.starts_with("Gated pairs and reductions")) return by_rows && is_exchanged;
  if (message.starts_with("Groups of 128 columns"))
    return parts.groups && kernel.design.tile.n % (parts.pairs ? 256 : 128) != 0;
  if (message.starts_with("The halves of"))
    return parts.pairs && !parts.eights &&
           args.b.extents[args.b.rank - 1U] / 2 % std::max(kernel.operands.b.alignment, 1) != 0;
  return parts.pairs && !takes_wide(kernel, {.pairs = true, .eights = parts.eights});
}

/// Whether one of the texts of a refusal, which have no reason of their own, is true.
bool is_true_text(const std::string& message, const KernelMetadata& kernel, const GemmArguments& args) {
  if (message.starts_with("Accumulator is"))
    return args.accumulator && *args.accumulator != kernel.operands.accumulator;
  if (message.starts_with("The expression is"))
    return args.expression && kernel.operands.scales != ScaleSupport::none &&
           !promotes_beside_expressions(kernel);
  if (message.starts_with("Nothing has to be copied"))
    return kernel.design.reorders && needs_no_copy(args.a, kernel.operands.a, Layout::row) &&
           needs_no_copy(args.b, kernel.operands.b, Layout::column);
  if (message.starts_with("Accumulation is"))
    return must_promote(args) && kernel.design.math_unit == MathUnit::tensor_core &&
           kernel.operands.scales != ScaleSupport::block_scales;
  const Math math = kernel.design.math;
  for (const std::string_view words : {"Mode `split_k_parallel` is unsupported with gated",
                                       "Mode `split_k_cluster` is unsupported with gated", "Gated pairs",
                                       "Groups of", "Tiles of", "The halves of"}) {
    if (message.starts_with(words)) return is_true_of_wide(message, kernel, args);
  }
  return message.starts_with("Math is") && math != Math::exact && math != args.math;
}

DType computed_in(const GemmArguments& args) {
  return compute_type(args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype)),
                      args.out.dtype);
}

/// Whether the rule that a message names is broken; nothing where it names none.
std::optional<bool> breaks_any_rule(const std::string& message, const GemmArguments& args) {
  if (message.find("promises an alignment of") != message.npos) return promises_too_much(args);
  if (message.find("Control `swizzle`") != message.npos) return has_odd_swizzle(args.controls);
  return breaks_rule(message, args.epilogue, computed_in(args));
}

std::string fault_of_invalid(const Status& status, const GemmArguments& args) {
  const std::string message = status.message();
  if (is_badly_interleaved(status, args, args.out.tag)) return "";
  const std::optional<bool> broken = breaks_any_rule(message, args);
  if (!broken) return "the message names no rule: " + message;
  return *broken ? "" : "no rule is broken: " + message;
}

}  // namespace

std::string fault_of_refusal(const Status& status, const KernelMetadata& kernel, const GemmArguments& args,
                             const DeviceModel& device) {
  const std::string message = status.message();
  if (status.code() == StatusCode::invalid_arguments) return fault_of_invalid(status, args);
  if (status.code() != StatusCode::unsupported) return "refused with another code: " + message;
  if (status.operand() == Operand::b_zero && names(message, Operand::b_zero))
    return has_other_zeros(status, kernel, args) ? "" : "the cause is not true: " + message;
  const bool is_of_scales = status.reason() == Reason::no_operand || status.reason() == Reason::granularity;
  if (is_of_scales && names(message, status.operand()))
    return has_other_scales(status, kernel, args) ? "" : "the cause is not true: " + message;
  if (status.operand() != Operand::none) {
    const TensorView* const view = view_of(args, status.operand());
    const OperandMetadata* const wanted = metadata_of(kernel, status.operand());
    if (!names(message, status.operand()) || view == nullptr || wanted == nullptr)
      return "the message names no operand: " + message;
    return has_fault(status.reason(), *view, *wanted, kernel.modes) ? ""
                                                                    : "the cause is not true: " + message;
  }
  if (!names_other_cause(message)) return "the message names no cause: " + message;
  const bool is_true = status.reason() == Reason::text ? is_true_text(message, kernel, args)
                                                       : has_fault(status.reason(), kernel, args, device);
  return is_true ? "" : "the cause is not true: " + message;
}

std::string fault_of_empty_answer(const Status& status, const GemmArguments& args) {
  const std::string message = status.message();
  const auto holds = [&](std::string_view words) { return message.find(words) != std::string::npos; };
  switch (status.code()) {
    case StatusCode::invalid_arguments: return fault_of_invalid(status, args);
    case StatusCode::no_kernel: {
      const bool named = message.starts_with("No kernel is registered for") &&
                         holds("a " + std::string(to_string(args.a.dtype))) &&
                         holds("b " + std::string(to_string(args.b.dtype))) &&
                         holds("out " + std::string(to_string(args.out.dtype)));
      return named ? "" : "the message does not name the types: " + message;
    }
    case StatusCode::unsupported:
    case StatusCode::filtered_out: {
      const bool named = holds("Operand `") || holds("The filter") || holds("machine code") ||
                         std::ranges::any_of(other_causes, holds);
      return named ? "" : "the message names no cause: " + message;
    }
    default: return "answered with another code: " + message;
  }
}

}  // namespace quarry::lab::gemm
