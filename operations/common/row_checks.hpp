/// Checks of a row that are the same for every operation.
#pragma once

#include "operations/common/row.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Whether the row computes what the arguments ask for; unsupported otherwise.
Status check_operation(const Row& row, Operation asked);

/// Whether an operand has the type that the row takes; unsupported otherwise.
Status check_type(Operand name, DType expected, DType got);

/// Whether the problem allows what the kernel does to its operands; unsupported otherwise.
Status check_math(Math kernel, Math allowed);

/// Whether the kernel runs on compute capability `cc`; unsupported otherwise.
Status check_compute_capability(const KernelMetadata& kernel, int cc);

}  // namespace quarry::detail
