/// Whether refusals of many GEMMs (grouped GEMMs and lists of GEMMs) say the truth: what both have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/config_parts.hpp"
#include "quarry/device_model.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry::lab {

bool holds(std::string_view message, std::string_view words);

/// Whether a matrix cannot be read as this layout.
bool is_other_layout(const TensorView& view, Layout wanted);

/// Whether a matrix has what it was refused for: lines of a layout that a kernel cannot copy.
bool has_fault(Reason reason, const TensorView& view, const OperandMetadata& wanted);

/// Whether a kernel needs scales, of which a problem has none, or takes no blocks, which it has.
template <class Args>
bool has_other_scales(ScaleSupport kernel, const Args& args) {
  if (kernel == ScaleSupport::none) return false;
  if (!args.a_scale && !args.b_scale) return true;
  const bool has_blocks = (args.a_scale && is_blocked(args.a_scale_granularity)) ||
                          (args.b_scale && is_blocked(args.b_scale_granularity));
  return has_blocks && !takes_blocks(kernel);
}

/// Whether a kernel has not what it was refused for; nothing for reasons that one operation alone has.
template <class Args>
std::optional<bool> is_common_cause(const Status& status, const KernelMetadata& kernel, const Args& args,
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
    case Reason::batch_alignment:
    case Reason::overlapping_stride:
      return has_fault(status.reason(), is_a ? args.a : args.b, is_a ? o.a : o.b);
    case Reason::no_operand:
      return o.scales == ScaleSupport::none && (name == Operand::a_scale ? args.a_scale : args.b_scale);
    case Reason::granularity: return has_other_scales(o.scales, args);
    case Reason::shared_memory: return kernel.design.shared_memory > device.shared_memory_per_block;
    default: break;
  }
  if (!status.message().starts_with("Accumulator is")) return std::nullopt;
  return args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype)) != o.accumulator;
}

/// What is wrong with a refusal that is no invalid argument; empty where nothing is.
std::string fault_of_cause(const Status& status, bool is_true);

/// What is wrong with the answer that no kernel has these types; empty where nothing is.
/// @param problems what messages call them
std::string fault_of_no_kernel(const Status& status, std::string_view problems, DType a, DType out);

/// Whether a message names a cause that both operations know.
bool names_common_cause(std::string_view message);

}  // namespace quarry::lab
