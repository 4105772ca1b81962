/// The host executor of grouped GEMMs: group by group, by the executor of GEMMs.
#pragma once

#include "grouped_gemm/params.hpp"
#include "operations/gemm/executor.hpp"
#include "quarry/status.hpp"

namespace quarry::host {

/// Ok where the sizes make sense; invalid_arguments that names the first one that does not.
Status check_sizes(const GroupParams& groups);

/// Computes what a kernel of these parameters does, whose pointers are host memory. Fails with
/// invalid_arguments for sizes that make no sense, unless these are to be clamped, and as the execute of a
/// GEMM does; in both cases, the first group that fails is the last one that was looked at.
/// @param expression in the place of the parameters' epilogue; null: none
Status execute(const HostKernel& kernel, const GroupedGemmParams& params, const OperandScales& scales,
               const GemmExpression* expression = nullptr);

}  // namespace quarry::host
