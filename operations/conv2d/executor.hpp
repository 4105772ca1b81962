/// The host executor's convolutions.
#pragma once

#include "conv2d/params.hpp"
#include "operations/conv2d/host_expression.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry::host {

/// Computes what a convolution's kernel of these parameters does, with K in one piece, and returns when it is
/// done. Pointers are host memory. Products are added one after another in the order of K, in the kernel's
/// accumulator type. Fails, with nothing written, with `unsupported` for types that the executor does not
/// know and `device_error` when memory runs out.
/// f32 operands are rounded first as the kernel's math says.
/// @param kernel whose direction, types and math count
/// @param threads 0: one a processor
/// @param expression in the place of the parameters' epilogue; null: none
Status execute(const KernelMetadata& kernel, const Conv2dParams& params, int threads = 0,
               const ConvolutionExpression* expression = nullptr);

}  // namespace quarry::host
