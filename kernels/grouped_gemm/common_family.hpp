/// What the families of grouped GEMMs answer alike whose blocks walk over tiles by themselves: by the traits
/// and costs of a config. Host only.
#pragma once

#include "gemm/estimate.hpp"
#include "grouped_gemm/family.hpp"

namespace quarry {

/// A family that follows from its configs' traits and costs; what is different in one, it overrides.
class CommonGroupedFamily : public GroupedGemmFamily {
 public:
  GemmProfile profile(const void* config, const DeviceModel& device) const override;
  Status supports(const GemmProfile& kernel, const GroupedGemmProblem& problem,
                  const DeviceModel& device) const override;
  Account account(const GemmProfile& kernel, const GroupedGemmProblem& problem) const override;
  std::size_t workspace(const void* config, const GroupedGemmProblem& problem) const override;
  void launch(const void* config, const GroupedGemmProblem& problem, const ChosenControls& controls,
              Launch& launch) const override;
  GroupedGemmParams params(const std::byte* image, const Step& step) const override;

 protected:
  constexpr ~CommonGroupedFamily() = default;

  virtual GemmTraits traits(const void* config) const = 0;
  virtual BlockCost block_cost(const void* config, const DeviceModel& device) const = 0;
};

}  // namespace quarry
