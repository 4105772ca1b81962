/// The host side of expressions with gated pairs and reductions. Host only.
#pragma once

#include <cstddef>

#include "gemm/host.hpp"
#include "gemm/profile.hpp"
#include "launch.hpp"

namespace quarry {

/// Bytes of the workspace that tiles leave parts of reductions in. They follow from the extents, the groups
/// of rows (GivenExpression::column_entries) and the tiles.
std::size_t reduction_bytes(const GemmTraits& kernel, const GemmProblem& problem);

/// Seconds that the reductions of an expression take beside its values: a second step, and the parts, which
/// are written and read once. 0 where there are none.
double reduction_seconds(const GemmProfile& kernel, const GemmProblem& problem);

/// The parameters of a kernel's two steps.
struct ReducedSteps {
  std::size_t params_bytes;
  /// Where the parts begin in the workspace.
  std::size_t parts_at;
};

/// Says to the kernel, which is the launch's last step, where parts go, and adds the step that finishes
/// lines.
void add_finish(Launch& launch, const GemmTraits& kernel, const GemmProblem& problem,
                const ReducedSteps& steps);

}  // namespace quarry
