/// One kernel and one reduction: does it take it.
#pragma once

#include "operations/common/row.hpp"
#include "quarry/arguments.hpp"
#include "quarry/device_model.hpp"
#include "reduce_split_k/reduce_family.hpp"

namespace quarry::detail {

/// The family of a row that reduces. @pre its operation is reduce_split_k
inline const ReduceFamily& reduce_family(const Row& row) {
  return static_cast<const ReduceFamily&>(row.family.get());
}

/// The model that a query ranks by, as model_for of a GEMM.
const DeviceModel& model_for(const ReduceSplitKArguments& arguments);

/// Whether the row reduces, and partial sums of these types. Names the first operand that differs.
Status check_signature(const Row& row, const ReduceProblem& problem);

/// Whether the row takes a problem of its types on a device.
Status check_constraints(const Row& row, const ReduceProblem& problem, const DeviceModel& device);

/// Everything that a run of the row needs to know: checks the arguments, the row's signature and its
/// constraints.
/// @param problem on success the problem
Status resolve(const Row& row, const ReduceSplitKArguments& arguments, const DeviceModel& device,
               ReduceProblem& problem);

}  // namespace quarry::detail
