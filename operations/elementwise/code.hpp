/// Device code of elementwise expressions, as text over kernels/elementwise/kernel.cuh.
#pragma once

#include <string>
#include <string_view>

#include "quarry/expression.hpp"
#include "quarry/status.hpp"

namespace quarry::detail::elementwise {

/// A struct of this name in namespace quarry, as kernels take it: see CopyBytes there. With reductions it has
/// in the place of `element` what kernels/elementwise/expression.cuh calls:
///   Values               code of the values, with its reductions
///   (operations/common/expression/device_code.hpp) has_elements(tensor) whether an output has a value for
///   each element element_inputs, element_outputs, group_outputs    between a lane and the values finish_row,
///   finish_column, finish_all             from totals to outputs
/// Fails with `unsupported` where device code lacks a type. @pre all tensors have a type
Result<std::string> code_of(const Expression& expression, std::string_view name);

}  // namespace quarry::detail::elementwise
