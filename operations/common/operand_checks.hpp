/// Checks that hold between the operands of a problem, whatever it computes.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Where views say in which memory they lie, they must agree with those before them in the list: no host
/// memory beside memory of a device, no two devices. Asks no driver.
Status check_memory(const OperandList& operands);

/// No input that a run reads may overlap an output, but where it may be `out` itself and is (same pointer and
/// strides); no two outputs may overlap. As far as pointers are known (see may_overlap).
/// @pre each view was checked
Status check_overlaps(const OperandList& operands);

/// Whether an input is `out` itself: the same pointer and extents, and the same strides as far as they
/// matter. Types are not compared, and two fake tensors have the same pointer.
bool is_in_place(const TensorView& input, const TensorView& out);

/// The refusal of an operand whose memory overlaps an output's.
/// @param may_be_out whether the operand could be `out` itself (OperandRef::may_be_out)
Status output_overlap(Operand operand, bool may_be_out, Operand output);

/// Ok when every operand that a run touches has data; null_data naming the first other one. @pre the output
/// has elements
Status check_data(const OperandList& operands);

}  // namespace quarry::detail
