/// Which forms of groups a kernel takes: its copies need groups that begin where they may begin.
#pragma once

#include "quarry/metadata.hpp"

namespace quarry::lab::grouped_gemm {

/// Groups of rows: lines of a column-major A are cut between any two rows.
constexpr bool begins_at_any_row(const KernelMetadata& kernel) {
  return kernel.operands.a.layout != Layout::column || kernel.operands.a.alignment == 1;
}

/// Groups of positions of K: lines along K are cut between any two positions. The copy engine's kernels begin
/// early, and put zeros there; there are none with scales.
constexpr bool begins_at_any_k(const KernelMetadata& kernel) {
  const OperandsMetadata& o = kernel.operands;
  if (o.scales != ScaleSupport::none) return false;
  return kernel.design.copy_engine == CopyEngine::tma ||
         ((o.a.layout == Layout::column || o.a.alignment == 1) &&
          (o.b.layout == Layout::row || o.b.alignment == 1));
}

}  // namespace quarry::lab::grouped_gemm
