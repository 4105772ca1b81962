/// Reordering matrices: what does not need a device.
#pragma once

#include "quarry/status.hpp"
#include "quarry/tensor.hpp"
#include "reorder_matrix/config.hpp"

namespace quarry::host {

/// Checks the views of a reorder but for where they lie: invalid_arguments that names the one at fault.
Status check_reorder(const TensorView& from, const TensorView& to);

/// The parameters of the kernel that does it. @pre check_reorder
ReorderParams reorder_params(const TensorView& from, const TensorView& to);

/// Does it in host memory. @pre check_reorder
void reorder(const TensorView& from, const TensorView& to);

}  // namespace quarry::host
