/// gemm_simt configs as text: gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4. Names do not speak of alignment:
/// kernels take any, except those that copy vectors, which their names say (v4).
#include "gemm_simt/describe.hpp"
#include "gemm_simt/fault.hpp"
#include "settings.hpp"

namespace quarry::gemm_simt {
namespace {

constexpr auto settings = gemm_settings<Config>(
    {pair_setting<&Config::thread_m, &Config::thread_n>("thread", "t"),
     setting<&Config::stages>("stages", "s", 2), setting<&Config::vector>("vector", "v", 1),
     word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::block_scales, ScaleSupport::group_scales,
                  ScaleSupport::zero_points>("scales", ScaleSupport::none)});

/// A type has few configs, so their layouts go together.
std::string unit_group(const Config& c) { return name_of(c.types); }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(family_name);

}  // namespace quarry::gemm_simt
