/// The interface of families whose kernels compute GEMMs. Host only.
///
/// Problems arrive in the orientation of the config.
#pragma once

#include <cstddef>
#include <string_view>

#include "../family.hpp"  // by its place: this file has the same name
#include "chosen_controls.hpp"
#include "gemm/params.hpp"
#include "gemm/problem.hpp"
#include "gemm/profile.hpp"
#include "quarry/device_model.hpp"
#include "quarry/status.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry {

/// The device work of a reduction, ready but for pointers. Plain data.
struct ReduceLaunch {
  ReduceParams params = {};
  unsigned grid = 0;  ///< 0: nothing to do
  unsigned threads = 0;
};

/// The device work of one run of a GEMM kernel, ready but for pointers: clear a part of the workspace, launch
/// the kernel, launch a reduction. Plain data, no allocation.
struct GemmLaunch {
  GemmParams params = {};
  /// Whether the kernel takes TensorGemmParams, with maps made of these fields. A map without a box is not
  /// used: those of a and b where K is 0 or threads copy them, that of out where the kernel stores no boxes.
  bool has_tensor_maps = false;
  TensorMapFields map_a = {};
  TensorMapFields map_b = {};
  TensorMapFields map_out = {};
  unsigned grid = 0;  ///< 0: nothing to do
  unsigned threads = 0;
  unsigned shared_memory = 0;
  /// Blocks of a cluster; the grid is a multiple of it.
  unsigned cluster = 1;
  /// Bytes of the workspace in all; where the counters lie in it, and how many bytes of them to clear before
  /// the launch.
  std::size_t workspace_bytes = 0;
  std::size_t counters_offset = 0;
  std::size_t counters_bytes = 0;
  /// The reduction that follows split_k_parallel; its grid is 0 where there is none.
  ReduceLaunch reduce = {};
  /// Name of the reduction's entry.
  std::string_view reduce_entry;
};

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

  /// Bytes of workspace with these controls.
  virtual std::size_t workspace_size(const void* config, const GemmProblem& problem,
                                     const ChosenControls& controls) const = 0;

  /// The launch with these controls; workspace pointers are left for bind_workspace. @pre supports()
  virtual GemmLaunch launch(const void* config, const GemmProblem& problem,
                            const ChosenControls& controls) const = 0;

 protected:
  constexpr ~GemmFamily() = default;
};

/// Points a launch at its workspace.
void bind_workspace(GemmLaunch& launch, void* workspace);

}  // namespace quarry
