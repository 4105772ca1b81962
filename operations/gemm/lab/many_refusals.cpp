#include "operations/gemm/lab/many_refusals.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace quarry::lab {

bool holds(std::string_view message, std::string_view words) { return message.find(words) != message.npos; }

bool is_other_layout(const TensorView& view, Layout wanted) {
  const std::size_t along = wanted == Layout::row ? view.rank - 1U : view.rank - 2U;
  return view.extents[along] > 1 && view.strides[along] != 1;
}

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

std::string fault_of_cause(const Status& status, bool is_true) {
  const std::string message = status.message();
  if (status.code() != StatusCode::unsupported) return "refused with another code: " + message;
  return is_true ? "" : "the cause is not true: " + message;
}

std::string fault_of_no_kernel(const Status& status, std::string_view problems, DType a, DType out) {
  const std::string message = status.message();
  const bool named =
      message.starts_with("No kernel of " + std::string(problems) + " is registered for operands") &&
      holds(message, "a " + std::string(to_string(a))) &&
      holds(message, "out " + std::string(to_string(out)));
  return named ? "" : "the message does not name the types: " + message;
}

bool names_common_cause(std::string_view message) {
  constexpr std::string_view causes[] = {"Operand `",         "The filter",   "Accumulator is",
                                         "The expression is", "Tiles of ",    "Groups of 128 columns",
                                         "machine code",      "The device is"};
  return std::ranges::any_of(causes, [&](std::string_view cause) { return holds(message, cause); });
}

}  // namespace quarry::lab
