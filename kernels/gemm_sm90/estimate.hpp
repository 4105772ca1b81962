/// Predicting the time of a gemm_sm90 kernel, and choosing the controls that a caller left open. Host only.
///
/// The model describes the busiest multiprocessor. Of each K tile of a block, the tensor cores, shared
/// memory and the way from L2 take their share of cycles, and the longest decides; none is shorter than its
/// instructions, or than the time that its copies are under way, shared by the stages that are. That time is
/// longer the more of them come from device memory, and the way from L2 is slower where lines of an operand
/// begin in the middle of lines of L2, and wider where few multiprocessors ask. Persistent blocks fill their
/// pipeline once, and hide what they store behind the next tile (ping_pong) or not (cooperative); blocks of
/// one_tile do all for each tile, but side by side where they fit. To that come a floor for device memory,
/// the launch, and for split-K modes the exchange of partial sums. Its numbers were fitted to measurements on
/// an H200; estimate.cpp says what each means. The order of tiles is chosen by rules and not timed.
#pragma once

#include "gemm/family.hpp"
#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// What all kernels share of Family::profile and of supports.
GemmTraits traits(const Config& config);

/// Family::profile. @param fetches whether the copy engine may fetch what the epilogue reads. @pre the
/// device's numbers are above 0
GemmProfile profile(const Config& config, const DeviceModel& device, bool fetches = true);

/// Family::estimate and Family::account.
Estimate estimate(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace);
Account account(const GemmProfile& kernel, const GemmProblem& problem, std::size_t max_workspace);

}  // namespace quarry::gemm_sm90
