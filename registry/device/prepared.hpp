/// A kernel and its arguments made into a launch: what Kernel::run and Plan have in common.
#pragma once

#include <cstddef>

#include "gemm/family.hpp"
#include "operations/common/row.hpp"
#include "quarry/kernel.hpp"
#include "registry/device/launch.hpp"
#include "registry/device/memory.hpp"

namespace quarry::detail {

/// Which operands a run reads or writes; only those need data.
struct OperandsNeeded {
  bool inputs = false;  ///< a and b: not when K is 0
  bool c = false;       ///< not when beta is known to be 0
  bool bias = false;
  bool scale = false;
  bool residual = false;
  bool aux = false;
  bool partials = false;
  bool out = false;  ///< not when it has no element; then nothing else is needed either

  /// Ok when all that is needed is there; null_data naming the operand otherwise.
  Status check(const PlanOperands& given) const;

  /// Ok when all that is needed lies on the device, or in memory that belongs to none; mixed_devices naming
  /// the operand otherwise. Where there are several devices, each pointer costs one call of the driver.
  Status check_device(const PlanOperands& given, int device) const;
};

/// Which operands are arrays of pointers.
struct ArrayOperands {
  bool a = false;
  bool b = false;
  bool c = false;
  bool out = false;
  bool residual = false;
  bool aux = false;

  bool any() const { return a || b || c || out || residual || aux; }
};

/// A launch, ready but for the pointers to its workspace.
struct PreparedLaunch {
  Place place;
  OperandsNeeded needed;
  ArrayOperands arrays;
  GemmLaunch launch;
};

/// A reduction, which needs no workspace.
struct PreparedReduction {
  Place place;
  OperandsNeeded needed;
  ReduceLaunch launch;
};

/// Checks the arguments, chooses the open controls and computes the launch. Loads nothing, asks no device but
/// for what it is.
Status prepare_launch(const Row& row, const Controls& controls, const GemmArguments& arguments,
                      PreparedLaunch& prepared);

/// The same for a reduction, which has no controls.
Status prepare_launch(const Row& row, const ReduceSplitKArguments& arguments, PreparedReduction& prepared);

/// Ok when the workspace holds `bytes` bytes and starts at a multiple of 256; invalid_workspace otherwise.
Status check_workspace(const Workspace& workspace, std::size_t bytes);

/// Ok when the workspace, if any is needed, lies on the device, or in memory that belongs to none;
/// invalid_workspace otherwise. Costs one call of the driver where there are several devices.
Status check_workspace_device(const Workspace& workspace, std::size_t bytes, int device);

/// The data pointers of the arguments.
PlanOperands operands_of(const GemmArguments& arguments);
PlanOperands operands_of(const ReduceSplitKArguments& arguments);

/// The arguments with other data pointers, as far as they have such operands.
GemmArguments with_operands(GemmArguments arguments, const PlanOperands& operands);

}  // namespace quarry::detail
