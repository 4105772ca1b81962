/// The interface of families whose kernels compute GEMMs. Host only.
///
/// Problems arrive in the orientation of the config.
#pragma once

#include <cstddef>

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "gemm/params.hpp"
#include "gemm/problem.hpp"
#include "gemm/profile.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// A family whose kernels compute GEMMs: one of Operation::gemm.
class GemmFamily : public Family {
 public:
  /// What is known of a kernel on a device whatever the problem. A query computes it once and asks by it, as
  /// it asks every kernel of a key; everybody else asks by config, below.
  virtual GemmProfile profile(const void* config, const DeviceModel& device) const = 0;

  /// Whether the kernel takes the problem on such a device: alignment, strides, controls, shared memory,
  /// limits of the grid. Types and layouts were matched by the caller, who also checked the device's compute
  /// capability.
  virtual Status supports(const GemmProfile& kernel, const GemmProblem& problem,
                          const DeviceModel& device) const = 0;
  Status supports(const void* config, const GemmProblem& problem, const DeviceModel& device) const {
    return supports(profile(config, device), problem, device);
  }

  /// Predicted time, with the best controls that the problem leaves open and that need at most
  /// `max_workspace` bytes (or, where none do, the controls that need least). @pre supports()
  virtual Estimate estimate(const GemmProfile& kernel, const GemmProblem& problem,
                            std::size_t max_workspace) const = 0;
  Estimate estimate(const void* config, const GemmProblem& problem, const DeviceModel& device,
                    std::size_t max_workspace) const {
    return estimate(profile(config, device), problem, max_workspace);
  }

  /// What the time of `estimate` is made of.
  virtual Account account(const GemmProfile& kernel, const GemmProblem& problem,
                          std::size_t max_workspace) const = 0;

  /// Bytes of workspace with these controls.
  virtual std::size_t workspace_size(const void* config, const GemmProblem& problem,
                                     const ChosenControls& controls) const = 0;

  /// Fills a launch, which is empty, with the work that these controls choose: the workspace's counters are
  /// cleared, the kernel runs, and a reduction follows split_k_parallel as companion 1. A problem's
  /// expression is the kernel's, or the reduction's where there is one.
  /// @pre supports()
  virtual void launch(const void* config, const GemmProblem& problem, const ChosenControls& controls,
                      Launch& launch) const = 0;

  /// Whether a row that copies operands first (DesignMetadata::reorders) copies any of this problem's.
  virtual bool copies_operands(const GemmProfile& /*kernel*/, const GemmProblem& /*problem*/) const {
    return false;
  }

  /// What the host executor computes for a launch that is not empty: the parameters of the kernel's step,
  /// with operands where the caller has them. @param image of the launch
  virtual GemmParams host_params(const Launch& launch, const std::byte* image) const {
    return params_of<GemmParams>(image, *kernel_step(launch));
  }

 protected:
  constexpr ~GemmFamily() = default;
};

}  // namespace quarry
