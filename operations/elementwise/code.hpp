/// Device code of elementwise expressions, as text over kernels/elementwise/kernel.cuh.
#pragma once

#include <string>
#include <string_view>

#include "quarry/expression.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::elementwise {

/// A struct of this name in namespace quarry, as kernels take it: see CopyBytes there. Fails
/// with `unsupported` where device code lacks a type. @pre all tensors have a type, and nothing is reduced
Result<std::string> code_of(const Expression& expression, std::string_view name);

}  // namespace quarry::detail::elementwise
