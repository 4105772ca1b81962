#include "gemm_simt/cost.hpp"
#include "grouped_gemm/common_family.hpp"
#include "grouped_gemm_simt/config.hpp"

namespace quarry::grouped_gemm_simt {
namespace {

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GroupedGemmSimt final : public CommonGroupedFamily {
 private:
  GemmTraits traits(const void* config) const override {
    return gemm_simt::traits(tile_config(config_of(config)));
  }
  BlockCost block_cost(const void* config, const DeviceModel& device) const override {
    return gemm_simt::block_cost(tile_config(config_of(config)), device);
  }
};

constinit const GroupedGemmSimt instance;

}  // namespace

constinit const Family& family = instance;

}  // namespace quarry::grouped_gemm_simt
