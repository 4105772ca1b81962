/// The host executor's reductions.
#pragma once

#include "quarry/metadata.hpp"
#include "quarry/status.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry::host {

/// Computes what a reduction computes on the device, bit for bit except for the epilogue's approximations:
/// slices are added in their order. Pointers are host memory. Fails, with nothing written, with `unsupported`
/// for types that the executor does not know.
/// @param kernel whose types are the accumulator's and the output's
/// @param threads 0: one a processor
Status execute(const KernelMetadata& kernel, const ReduceParams& params, int threads = 0);

}  // namespace quarry::host
