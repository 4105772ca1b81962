/// Computes elementwise problems on the CPU.
#pragma once

#include "elementwise/params.hpp"
#include "operations/common/expression/interned.hpp"
#include "quarry/status.hpp"

namespace quarry::host {

/// Computes the outputs as kernels do. @param expression null: bytes are copied
/// @param threads 0: one a processor
Status execute(const ElementwiseParams& params, const detail::InternedExpression* expression,
               int threads = 0);

}  // namespace quarry::host
