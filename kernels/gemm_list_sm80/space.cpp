/// gemm_list_sm80 configs as text: gemm_list_sm80_bf16_bf16_f32_bf16_rrr_128x128x32_w2x2x1_s4_a8x8.
#include "gemm_list_sm80/describe.hpp"
#include "gemm_sm80/fault.hpp"
#include "settings.hpp"

namespace quarry::gemm_list_sm80 {
namespace {

constexpr auto settings =
    gemm_settings<Config>({setting<&Config::warps>("warps", "w"), setting<&Config::stages>("stages", "s"),
                           setting<&Config::alignment>("alignment", "a"),
                           word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::vector_scales,
                                        ScaleSupport::block_scales>("scales", ScaleSupport::none)});

std::string fault(const Config& c) {
  if (is_interleaved(c.layouts)) return "kernels of lists take no interleaved operands";
  if (c.layouts.out != Layout::row) return "the output has any strides, and layout row stands for them";
  return gemm_sm80::fault(tile_config(c));
}

std::string unit_group(const Config& c) { return name_of(c.types) + "_" + name_of(c.layouts); }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(
    family_name, "quarry::GemmListParams", EntryProblem::same, "quarry::ScaledGemmListParams");

}  // namespace quarry::gemm_list_sm80
