/// What of an epilogue does not depend on shapes: its checks, and the parameters that kernels get of it.
#pragma once

#include "common/epilogue_params.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// A host value that is exactly zero, and so takes its term out of the problem.
inline bool is_zero(const Scalar& scalar) { return scalar.pointer == nullptr && scalar.value == 0; }

/// Checks activation, axes, clamp, alpha and beta of an epilogue that is computed in `compute`
/// (compute_type): invalid_arguments that names what is wrong.
Status check_epilogue(const Epilogue& epilogue, DType compute);

/// The parameters of a checked epilogue. Operands without memory have null pointers.
/// @pre check_epilogue, and check_tensor of its operands
EpilogueParams epilogue_params(const Epilogue& epilogue, DType compute);

}  // namespace quarry::detail
