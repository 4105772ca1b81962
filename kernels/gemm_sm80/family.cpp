#include "gemm/common_family.hpp"
#include "gemm_sm80/config.hpp"
#include "gemm_sm80/cost.hpp"

namespace quarry::gemm_sm80 {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GemmSm80 final : public CommonGemmFamily {
 public:
  Status supports(const GemmProfile& kernel, const GemmProblem& problem,
                  const DeviceModel& device) const override {
    const bool is_plain = gemm_takes(kernel.traits, problem, device) && !problem.wide.has_any();
    if (!is_plain) {
      if (Status status = gemm_supports(kernel.traits, problem, device); !status) return status;
    }
    return check_lines(kernel.traits, problem);
  }

 private:
  GemmTraits traits(const void* config) const override { return gemm_sm80::traits(config_of(config)); }
  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    return gemm_sm80::block_cost(config_of(config), device);
  }
};

constinit const GemmSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_sm80
