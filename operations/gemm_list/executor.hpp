/// The host executor of lists of GEMMs: problem by problem, by the executor of GEMMs.
#pragma once

#include "gemm_list/params.hpp"
#include "operations/gemm/executor.hpp"
#include "quarry/status.hpp"

namespace quarry::host {

/// Computes what a kernel of these parameters does, whose pointers are host memory. Fails with
/// invalid_arguments and nothing written for sizes and leading dimensions that make no sense, unless these
/// are to be clamped, and for pointers that are null, misaligned, or lead to outputs that overlap. Fails as
/// the execute of a GEMM does.
/// @param alignment that the kernel needs @param scales of all problems
/// @param expression in the place of the parameters' epilogue; null: none
/// @param unit what N of a problem is a multiple of with gated pairs (pair_unit); 1: there
/// are none
Status execute(const HostKernel& kernel, Alignment alignment, const GemmListParams& params,
               const OperandScales& scales, const GemmExpression* expression = nullptr, int unit = 1);

}  // namespace quarry::host
