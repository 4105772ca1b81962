#include "gemm/common_family.hpp"
#include "gemm_simt/config.hpp"
#include "gemm_simt/cost.hpp"

namespace quarry::gemm_simt {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GemmSimt final : public CommonGemmFamily {
 public:
 private:
  GemmTraits traits(const void* config) const override { return gemm_simt::traits(config_of(config)); }
  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    return gemm_simt::block_cost(config_of(config), device);
  }
};

constinit const GemmSimt instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_simt
