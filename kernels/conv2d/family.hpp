/// The interface of families whose kernels compute convolutions: those of Operation::conv2d. Host only.
#pragma once

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "conv2d/problem.hpp"
#include "launch.hpp"
#include "quarry/account.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"

namespace quarry {

class Conv2dFamily : public Family {
 public:
  /// Whether the kernel takes the problem on such a device: shared memory, limits of the grid. Direction and
  /// types were matched by the caller, who also checked the device's compute capability.
  virtual Status supports(const void* config, const Conv2dProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Predicted seconds, and what they are made of. @pre supports()
  virtual Account account(const void* config, const Conv2dProblem& problem,
                          const DeviceModel& device) const = 0;

  /// Fills a launch, which is empty. @pre supports()
  virtual void launch(const void* config, const Conv2dProblem& problem, Launch& launch) const = 0;

 protected:
  constexpr ~Conv2dFamily() = default;
};

}  // namespace quarry
