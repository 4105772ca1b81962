/// The interface of families whose kernels compute convolutions (Operation::conv2d). Host only.
#pragma once

#include <cstddef>

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "conv2d/problem.hpp"
#include "gemm/profile.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// Whether kernels with strided or patched tiles, whose rows lie apart, refuse a problem for its expression.
inline Status check_no_expression(const Conv2dProblem& problem) {
  if (!problem.product.expressed) return {};
  return {StatusCode::unsupported,
          "The expression is unsupported: rows of this kernel's tiles lie apart in the output"};
}

class Conv2dFamily : public Family {
 public:
  /// What is known of a kernel on a device whatever the problem.
  virtual GemmProfile profile(const void* config, const DeviceModel& device) const = 0;

  /// Whether the kernel takes the problem on such a device: windows, strides, alignment, shared memory,
  /// limits of the grid. Direction and types were matched by the caller, who also checked the device's
  /// compute capability.
  virtual Status supports(const GemmProfile& kernel, const Conv2dProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Predicted time, with the best controls that need at most `max_workspace` bytes. @pre supports()
  virtual Estimate estimate(const GemmProfile& kernel, const Conv2dProblem& problem,
                            std::size_t max_workspace) const = 0;

  /// What the time of `estimate` is made of.
  virtual Account account(const GemmProfile& kernel, const Conv2dProblem& problem,
                          std::size_t max_workspace) const = 0;

  /// Bytes of workspace with these controls.
  virtual std::size_t workspace_size(const void* config, const Conv2dProblem& problem,
                                     const ChosenControls& controls) const = 0;

  /// Fills a launch, which is empty. @pre supports()
  virtual void launch(const void* config, const Conv2dProblem& problem, const ChosenControls& controls,
                      Launch& launch) const = 0;

  /// The parameters of a launch's kernel as the host executor takes them. @param image of the launch
  virtual Conv2dParams host_params(const void* /*config*/, const Launch& launch,
                                   const std::byte* image) const {
    return params_of<Conv2dParams>(image, *kernel_step(launch));
  }

 protected:
  constexpr ~Conv2dFamily() = default;
};

}  // namespace quarry
