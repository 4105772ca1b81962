/// One kernel and one problem: does it take it, and with which controls.
#pragma once

#include "family.hpp"
#include "gemm/problem.hpp"
#include "operations/common/row.hpp"
#include "quarry/arguments.hpp"
#include "quarry/device_model.hpp"

namespace quarry::detail {

/// The model by which controls are chosen for these arguments: that of the first of out, a, b and c that is
/// said to lie on a device, default_device_model() otherwise. Does not ask the driver about pointers, so that
/// what a query, workspace_size and a run choose is the same.
const DeviceModel& model_for(const GemmArguments& arguments);

/// Whether a model holds what ranking divides by; invalid_arguments otherwise.
Status check_model(const DeviceModel& device);

/// Whether the row computes what the arguments ask for.
Status check_operation(const Row& row, Operation asked);

/// Whether an operand has the type that the row takes.
Status check_type(Operand name, DType expected, DType got);

/// Whether the kernel runs on compute capability `cc`.
Status check_compute_capability(const KernelMetadata& kernel, int cc);

/// Whether the problem's types and layouts, in the caller's orientation, are those of the row. Names the
/// first operand that differs.
Status check_signature(const Row& row, const GemmProblem& problem);

/// Whether the row takes a problem of its types and layouts on a device. @param problem in the orientation of
/// the row's entry
Status check_constraints(const Row& row, const GemmProblem& problem, const DeviceModel& device);
/// The same with the profile of the row's entry on the device.
Status check_constraints(const Row& row, const GemmProfile& profile, const GemmProblem& problem,
                         const DeviceModel& device);

/// The caller's problem in the orientation of the row's entry.
GemmProblem oriented(const Row& row, const GemmProblem& problem);

/// Everything that a run of the row needs to know: checks the arguments, the row's signature and its
/// constraints, and settles the controls. Those of the arguments win; then those of the kernel (which a query
/// chose), unless they do not go with the arguments; the rest is the family's choice by its estimate.
/// @param problem on success the problem, in the orientation of the row's entry
/// @param controls on success the controls, with nothing left open
Status resolve(const Row& row, const GemmArguments& arguments, const Controls& kernel_controls,
               const DeviceModel& device, GemmProblem& problem, ChosenControls& controls);

/// The same for a problem that `normalise` made of the arguments.
Status resolve(const Row& row, const GemmProblem& normalised, const Controls& kernel_controls,
               const DeviceModel& device, GemmProblem& problem, ChosenControls& controls);

/// Whether the library holds machine code of the row that a device of compute capability `cc` runs: code
/// of 8.0 runs on 8.x, code of 9.0 on 9.0.
bool is_precompiled(const Row& row, int cc);

}  // namespace quarry::detail
