#include "gemm_list/common_family.hpp"
#include "gemm_list_simt/config.hpp"
#include "gemm_simt/cost.hpp"

namespace quarry::gemm_list_simt {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GemmListSimt final : public CommonListFamily {
 private:
  GemmTraits traits(const void* config) const override {
    return gemm_simt::traits(tile_config(config_of(config)));
  }
  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    return gemm_simt::block_cost(tile_config(config_of(config)), device);
  }
};

constinit const GemmListSimt instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::gemm_list_simt
