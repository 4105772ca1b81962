/// grouped_gemm_simt configs as text: grouped_gemm_simt_bf16_bf16_f32_bf16_rrr_64x64x16_t4x4.
#include "gemm_simt/fault.hpp"
#include "grouped_gemm_simt/describe.hpp"
#include "settings.hpp"

namespace quarry::grouped_gemm_simt {
namespace {

constexpr auto settings =
    gemm_settings<Config>({pair_setting<&Config::thread_m, &Config::thread_n>("thread", "t"),
                           word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::block_scales>(
                               "scales", ScaleSupport::none)});

std::string fault(const Config& c) {
  if (is_interleaved(c.layouts)) return "grouped kernels take no interleaved operands";
  if (c.layouts.out != Layout::row) return "the output has any strides, and layout row stands for them";
  if (std::string why = gemm_simt::half_byte_fault(c.types); !why.empty()) return why;
  return gemm_simt::fault(tile_config(c));
}

/// There are few, and all go together.
std::string unit_group(const Config&) { return ""; }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(
    family_name, "quarry::GroupedGemmParams", EntryProblem::same, "quarry::ScaledGroupedGemmParams");

}  // namespace quarry::grouped_gemm_simt
