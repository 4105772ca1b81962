/// Predicting the time of a GEMM kernel, and choosing the controls that a caller left open. Host only.
///
/// The model describes one multiprocessor. Blocks come in rounds of as many as fit at once. Of a K tile, the
/// math units, shared memory and the way from L2 each take their share of cycles; the longest decides, and
/// none is shorter than the time that a stage's copies are under way. To that come the filling of the
/// pipeline and the epilogue for each round, a floor for device memory, the launch, and for split-K modes the
/// exchange of partial sums (split_k.hpp). Rates, latencies and costs of launches are the device model's.
#pragma once

#include <cstddef>

#include "gemm/family.hpp"
#include "gemm/profile.hpp"

namespace quarry {

/// Family::profile for a GEMM kernel. @pre the device's numbers are above 0
GemmProfile gemm_profile(const GemmTraits& traits, const BlockCost& cost, const DeviceModel& device);

/// Family::estimate for a GEMM kernel, and what its time is made of.
Estimate gemm_estimate(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace);
Account gemm_account(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace);

}  // namespace quarry
