/// What a plan is inside, whatever the operation.
#pragma once

#include <optional>

#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/kernel.hpp"
#include "registry/device/launch.hpp"
#include "registry/device/prepared.hpp"

namespace quarry::detail {

/// Copies of the tensors of a problem, of which each run has other data.
struct KeptOperands {
  TensorView views[OperandList::most_tensors];
  OperandRef operands[OperandList::most_tensors];
  int count = 0;
};

/// What a plan's copies share. Immutable. The image of a launch that runs on a device holds encoded tensor
/// maps, over any data.
struct PlanState {
  const Row* row = nullptr;
  PreparedLaunch prepared;
  LaunchFunctions functions;  ///< null for the host
  bool overlap = false;
  /// Of a plan on the host that has arrays of pointers, which each run checks.
  std::optional<KeptOperands> arrays;
};

}  // namespace quarry::detail
