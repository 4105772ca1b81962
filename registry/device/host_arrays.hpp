/// Arrays of pointers in plain host memory: what can only be checked where they can be read.
#pragma once

#include "operations/common/operand_list.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Checks what the arrays of a problem lead to, which lies in host memory as a whole: that no pointer is
/// null, each keeps to the promised alignment, none is of device memory, and no matrix of an output overlaps
/// another one or an input (but C's and the residual's of the same batch entry, which may be the output's
/// own). Looks at what a run reads and writes. Ok at once where there are no arrays.
/// @pre the operands were checked, and what a run needs has data
Status check_host_arrays(const OperandList& operands);

}  // namespace quarry::detail
