#include "gemm/host.hpp"
#include "gemm_list/common_family.hpp"
#include "gemm_list_sm80/config.hpp"
#include "gemm_sm80/cost.hpp"

namespace quarry::gemm_list_sm80 {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GemmListSm80 final : public CommonListFamily {
 public:
  Status supports(const GemmProfile& kernel, const GemmListProblem& problem,
                  const DeviceModel& device) const override {
    if (Status s = check_leading(kernel.traits, problem); !s) return s;
    GemmProblem one = problem.gemm;  // blocks walk over the others: they do not add to the grid
    one.batch = 1;
    if (Status s = gemm_supports(kernel.traits, one, device); !s) return s;
    return gemm_sm80::check_lines(kernel.traits, one);
  }

 private:
  GemmTraits traits(const void* config) const override {
    return gemm_sm80::traits(tile_config(config_of(config)));
  }
  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    return gemm_sm80::block_cost(tile_config(config_of(config)), device);
  }
};

constinit const GemmListSm80 instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_list_sm80
