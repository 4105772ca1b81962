/// The interface of families whose kernels compute grouped GEMMs (Operation::grouped_gemm). Host
/// only.
#pragma once

#include <cstddef>

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "gemm/profile.hpp"
#include "grouped_gemm/problem.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry {

class GroupedGemmFamily : public Family {
 public:
  /// What is known of a kernel on a device whatever the problem.
  virtual GemmProfile profile(const void* config, const DeviceModel& device) const = 0;

  /// Whether the kernel takes the problem on such a device. Types and layouts were matched by the caller, who
  /// also checked the device's compute capability.
  virtual Status supports(const GemmProfile& kernel, const GroupedGemmProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Predicted seconds, and what they are made of. @pre supports()
  virtual Account account(const GemmProfile& kernel, const GroupedGemmProblem& problem) const = 0;

  /// Bytes of the workspace. @pre supports()
  virtual std::size_t workspace(const void* config, const GroupedGemmProblem& problem) const = 0;

  /// Fills a launch, which is empty. Nothing of it depends on what the sizes are. @pre supports()
  virtual void launch(const void* config, const GroupedGemmProblem& problem, const ChosenControls& controls,
                      Launch& launch) const = 0;

  /// What the kernel of a launch computes. @param image of the launch, with the pointers of a run
  virtual GroupedGemmParams params(const std::byte* image, const Step& step) const = 0;

 protected:
  constexpr ~GroupedGemmFamily() = default;
};

}  // namespace quarry
