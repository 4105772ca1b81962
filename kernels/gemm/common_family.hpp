/// What the families of GEMM kernels answer alike: by the traits and costs of a config. Host only.
#pragma once

#include "gemm/estimate.hpp"
#include "gemm/host.hpp"

namespace quarry {

/// A family that follows from its configs' traits and costs; what is different in one, it overrides.
class CommonGemmFamily : public GemmFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override {
    return gemm_profile(traits(config), block_cost(config, device), device);
  }

  Status supports(const GemmProfile& kernel, const GemmProblem& problem,
                  const DeviceModel& device) const override {
    return gemm_supports(kernel.traits, problem, device);
  }

  Estimate estimate(const GemmProfile& kernel, const GemmProblem& problem,
                    std::size_t max_workspace) const override {
    return gemm_estimate(kernel, problem, max_workspace);
  }

  Account account(const GemmProfile& kernel, const GemmProblem& problem,
                  std::size_t max_workspace) const override {
    return gemm_account(kernel, problem, max_workspace);
  }

  std::size_t workspace_size(const void* config, const GemmProblem& problem,
                             const ChosenControls& controls) const override {
    return gemm_workspace(traits(config), problem, controls).bytes;
  }

  void launch(const void* config, const GemmProblem& problem, const ChosenControls& controls,
              Launch& launch) const override {
    const GemmTraits kernel = traits(config);
    if (kernel.scales == ScaleSupport::none) return gemm_launch(kernel, problem, controls, launch);
    const bool takes_zeros = kernel.scales == ScaleSupport::zero_points;
    gemm_launch(kernel, problem, controls, launch,
                takes_zeros ? sizeof(ZeroGemmParams) : sizeof(ScaledGemmParams));
    if (launch.is_empty() || !reads_scales(problem)) return;
    add_scales(launch, params_of<ScaledGemmParams>(launch, *kernel_step(launch)).scales, problem);
    if (takes_zeros)
      add_zeros(launch, params_of<ZeroGemmParams>(launch, *kernel_step(launch)).zeros, problem);
  }

 protected:
  constexpr ~CommonGemmFamily() = default;

  virtual GemmTraits traits(const void* config) const = 0;
  virtual BlockCost block_cost(const void* config, const DeviceModel& device) const = 0;
};

}  // namespace quarry
