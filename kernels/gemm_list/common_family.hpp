/// What the families of lists answer alike whose blocks read operands by themselves: by the traits and costs
/// of a config. Host only.
#pragma once

#include "gemm/estimate.hpp"
#include "gemm_list/family.hpp"

namespace quarry {

/// A family that follows from its configs' traits and costs; what is different in one, it overrides.
class CommonListFamily : public GemmListFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override;
  Status supports(const GemmProfile& kernel, const GemmListProblem& problem,
                  const DeviceModel& device) const override;
  Account account(const GemmProfile& kernel, const GemmListProblem& problem) const override;
  std::size_t workspace(const void* config, const GemmListProblem& problem) const override;
  void launch(const void* config, const GemmListProblem& problem, const ChosenControls& controls,
              Launch& launch) const override;
  Tile walked_tile(const void* config) const override;
  GemmListParams params(const std::byte* image, const Step& step) const override;

 protected:
  constexpr ~CommonListFamily() = default;

  virtual GemmTraits traits(const void* config) const = 0;
  virtual BlockCost block_cost(const void* config, const DeviceModel& device) const = 0;
};

}  // namespace quarry
