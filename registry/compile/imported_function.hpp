/// A function that a shared library imports from others.
#pragma once

#include <string_view>

namespace quarry::detail {

/// Where a loaded library keeps the address of a function that it imports and calls by name: in its table of
/// linked procedures (System V gABI, "Dynamic Section", DT_JMPREL). null: it does not call it so, or the
/// entry cannot be made writable.
/// @param function any function of the library
void** imported_function(const void* function, std::string_view name);

}  // namespace quarry::detail
