/// Scales of operands between a problem, a kernel and its launch.
#pragma once

#include <cstddef>

#include "gemm/problem.hpp"
#include "launch.hpp"
#include "operations/common/row.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Whether a kernel takes the scales of a problem. One that takes some is for problems that have some, or
/// whose sums it promotes, or in which nothing is multiplied.
Status check_scales(ScaleSupport kernel, const GemmProblem& problem);

/// The scales of both operands in an image of a launch, in the launch's orientation. A kernel that takes
/// blocks promotes its sums whatever the granularity.
OperandScales launched_scales(const Row& row, const Launch& launch, const std::byte* image);

/// Whether a kernel with these operands takes an expression, too: one without scales, or with scales of
/// blocks of operands of one width.
constexpr bool takes_expression(const OperandsMetadata& kernel) {
  if (kernel.scales == ScaleSupport::none) return true;
  return kernel.scales == ScaleSupport::block_scales && bits_of(kernel.a.dtype) == bits_of(kernel.b.dtype);
}

}  // namespace quarry::detail
