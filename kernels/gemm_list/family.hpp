/// The interface of families whose kernels compute lists of GEMMs (Operation::gemm_list). Host only.
#pragma once

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "gemm/estimate.hpp"
#include "gemm/profile.hpp"
#include "gemm_list/problem.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Blocks walk over tiles by themselves, so that most follows from the traits and costs of a config.
class GemmListFamily : public Family {
 public:
  /// What is known of a kernel on a device whatever the problem.
  GemmProfile profile(const void* config, const DeviceModel& device) const;

  /// Whether the kernel takes the problem on such a device. Types and layouts were matched by the caller, who
  /// also checked the device's compute capability.
  virtual Status supports(const GemmProfile& kernel, const GemmListProblem& problem,
                          const DeviceModel& device) const;

  /// Predicted seconds, and what they are made of. @pre supports(), and outputs have elements
  Account account(const GemmProfile& kernel, const GemmListProblem& problem) const;

  /// Fills a launch, which is empty. Nothing of it depends on what the sizes are. @pre supports()
  void launch(const void* config, const GemmListProblem& problem, const ChosenControls& controls,
              Launch& launch) const;

  /// What the kernel of a launch computes. @param image of the launch, with the pointers of a run
  GemmListParams params(const std::byte* image, const Step& step) const;

 protected:
  constexpr ~GemmListFamily() = default;

  virtual GemmTraits traits(const void* config) const = 0;
  virtual BlockCost block_cost(const void* config, const DeviceModel& device) const = 0;
};

}  // namespace quarry
