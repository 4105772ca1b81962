/// Whether refusals say what is wrong, and say the truth: what operations have in common.
#pragma once

#include <optional>
#include <string_view>

#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// The view of an operand; null where the problem has none such.
const TensorView* view_of(const Arguments& arguments, Operand operand);

/// Whether a message names the operand.
bool names(std::string_view message, Operand operand);

/// Whether an operand is interleaved as none beside this output may be: what the status says of it.
bool is_badly_interleaved(const Status& status, const Arguments& arguments, LayoutTag out);

/// Whether a tensor with channels in groups of 32 lies neither as images nor as filters do.
bool has_no_order(const TensorView& view);

/// Whether the epilogue breaks the rule that a message names; nothing where it names none of an epilogue.
/// @param compute the type that it computes in
std::optional<bool> breaks_rule(std::string_view message, const Epilogue& epilogue, DType compute);

/// Whether the swizzle is another number than 1, 2, 4 and 8.
bool has_odd_swizzle(const Controls& controls);

/// Whether some operand that is an array of pointers promises an alignment that it cannot.
bool promises_too_much(const Arguments& arguments);

}  // namespace quarry::lab
