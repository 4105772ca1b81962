#include <algorithm>

#include "gemm/common_family.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {
namespace {

GemmTraits traits(const Config& c) {
  return {c.tile,      c.layouts,  {0, 0} /* any strides */, c.types.accumulator,
          c.types.out, threads(c), shared_memory_bytes(c)};
}

/// Multiplications and additions a clock and multiprocessor. Four products of bytes and their sum are one
/// integer multiply-add, 64 of which start a clock on every device.
double operations_per_clock(const Config& c, const DeviceModel& device) {
  switch (c.types.accumulator) {
    case DType::f64: return device.fma_f64_flops_per_clock;
    case DType::s32: return 2.0 * 4 * 64;
    default: return device.fma_f32_flops_per_clock;
  }
}

BlockCost block_cost(const Config& c, const DeviceModel& device) {
  const Tile& t = c.tile;
  const int words = compute_bytes(c) / 4;
  const double rate = operations_per_clock(c, device);
  const int copied = t.k * (t.m * bytes_of(c.types.a) + t.n * bytes_of(c.types.b));
  const int read = threads(c) * (c.thread_m + c.thread_n) * k_steps(c) * words;
  const int written = k_steps(c) * (t.m + t.n) * words;
  const double issue =
      t.k * (t.m + t.n) / 32 * 8;  // element by element, through registers, with an address each
  return {.math = 2 * t.m * t.n * t.k /
                  (0.7 * rate),  // beside them, as many instructions for loads and addresses
          .shared = (read + written) / 32.0,
          .copy = std::max(copied * cycles_per_l2_byte, issue),
          .latency = memory_latency + 30 * k_steps(c),
          .registers = (c.thread_m * c.thread_n + c.thread_m + c.thread_n) * words + 40};
}

const Config& config_of(const void* config) { return *static_cast<const Config*>(config); }

class GemmSimt final : public CommonGemmFamily {
 public:
  std::string_view name() const override { return "gemm_simt"; }

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
