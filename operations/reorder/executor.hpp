/// The host executor's reorders.
#pragma once

#include "quarry/metadata.hpp"
#include "quarry/status.hpp"
#include "reorder_matrix/params.hpp"

namespace quarry::host {

/// Copies what a reorder copies on the device. Pointers are host memory. Fails, with nothing written, with
/// `unsupported` for elements that are not whole bytes.
/// @param threads 0: one a processor
Status execute(const KernelMetadata& kernel, const ReorderParams& params, int threads = 0);

}  // namespace quarry::host
