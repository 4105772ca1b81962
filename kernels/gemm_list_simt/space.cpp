/// gemm_list_simt configs as text: gemm_list_simt_bf16_bf16_f32_bf16_rrr_64x64x16_t4x4.
#include "gemm_list_simt/describe.hpp"
#include "gemm_simt/fault.hpp"
#include "settings.hpp"

namespace quarry::gemm_list_simt {
namespace {

constexpr auto settings =
    gemm_settings<Config>({pair_setting<&Config::thread_m, &Config::thread_n>("thread", "t"),
                           word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::block_scales>(
                               "scales", ScaleSupport::none)});

std::string fault(const Config& c) {
  if (is_interleaved(c.layouts)) return "kernels of lists take no interleaved operands";
  if (c.layouts.out != Layout::row) return "the output has any strides, and layout row stands for them";
  if (std::string why = gemm_simt::half_byte_fault(c.types); !why.empty()) return why;
  return gemm_simt::fault(tile_config(c));
}

/// There are few, and all go together.
std::string unit_group(const Config&) { return ""; }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(
    family_name, "quarry::GemmListParams", EntryProblem::same, "quarry::ScaledGemmListParams");

}  // namespace quarry::gemm_list_simt
