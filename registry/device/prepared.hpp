/// A kernel and its arguments made into a launch: what Kernel::run and Plan have in common.
#pragma once

#include <cstddef>

#include "launch.hpp"
#include "operations/common/operand_list.hpp"
#include "operations/common/row.hpp"
#include "quarry/kernel.hpp"
#include "registry/device/memory.hpp"

namespace quarry::detail {

/// A launch, and where it runs.
struct PreparedLaunch {
  RunPlace place;
  Launch launch;
  /// What the arguments point to: operands, alpha and beta.
  PlanOperands pointers;
};

/// Checks the arguments, chooses the open controls and computes the launch. Loads nothing, and asks a device
/// only for what it is.
/// @param controls of the kernel: Kernel::entry_controls
/// @param assume_supported as RunOptions::assume_supported
Status prepare_launch(const Row& row, const Controls& controls, Arguments arguments, PreparedLaunch& prepared,
                      bool assume_supported = false);

/// Ok when all operands that the launch uses are there; null_data naming the first that is not otherwise.
Status check_pointers(const Launch& launch, const PlanOperands& pointers);

/// Ok when the operands that the launch uses are aligned as it needs; what is wrong with the first that is
/// not otherwise.
Status check_alignments(const Launch& launch, const PlanOperands& pointers);

/// Ok when the workspace holds `bytes` bytes and starts at a multiple of 256; invalid_workspace otherwise.
Status check_workspace(const Workspace& workspace, std::size_t bytes);

/// Ok when all operands that the launch uses lie on the device, or in memory that belongs to none;
/// mixed_devices naming the first that does not otherwise. Where there are several devices, each pointer
/// costs one call of the driver.
Status check_places(const Launch& launch, const PlanOperands& pointers, int device);

/// Ok when the workspace, if any is needed, lies on the device, or in memory that belongs to none;
/// invalid_workspace otherwise. Costs one call of the driver where there are several devices.
Status check_workspace_device(const Workspace& workspace, std::size_t bytes, int device);

/// Ok when all operands whose view says where they lie lie where the launch runs; what is wrong with the
/// first that does not otherwise. The driver is not asked.
Status check_kinds(const OperandList& operands, const RunPlace& place);

/// What the operands of a list point to, alpha and beta among them.
PlanOperands pointers_of(const OperandList& operands);

/// The same of arguments. @pre check_arguments
PlanOperands operands_of(Arguments arguments);

}  // namespace quarry::detail
