/// grouped_gemm_sm90 configs as text:
/// grouped_gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8.
#include "gemm_sm90/fault.hpp"
#include "grouped_gemm_sm90/describe.hpp"
#include "settings.hpp"

namespace quarry::grouped_gemm_sm90 {
namespace {

constexpr auto settings = gemm_settings<Config>(
    {setting<&Config::cluster>("cluster", "c"), setting<&Config::stages>("stages", "s"),
     word_setting<&Config::schedule, Schedule::cooperative, Schedule::ping_pong>("schedule"),
     setting<&Config::alignment>("alignment", "a"),
     word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::vector_scales,
                  ScaleSupport::block_scales>("scales", ScaleSupport::none)});

std::string fault(const Config& c) {
  if (!(has_half_types(c.types) || has_fp8_types(c.types)) || c.types.accumulator != DType::f32)
    return "grouped kernels multiply f16, bf16 or 8-bit floating point by wgmma, and sum in f32";
  if (c.scales != ScaleSupport::none && (!has_fp8_types(c.types) || c.scales != ScaleSupport::block_scales))
    return "scales are block_scales, for 8-bit floating point";
  if (c.layouts.out != Layout::row) return "the output has any strides, and layout row stands for them";
  if (c.schedule == Schedule::one_tile) return "blocks walk over tiles: schedule must not be one_tile";
  const std::string why = gemm_sm90::fault(tile_config(c));
  return why.empty() ? gemm_sm90::shared_memory_fault(shared_memory_bytes(c)) : why;
}

std::string unit_group(const Config& c) { return name_of(c.types) + "_" + name_of(c.layouts); }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space =
    config_space<settings, fault, unit_group>(family_name, "quarry::GroupedTensorGemmParams",
                                              EntryProblem::same, "quarry::ScaledGroupedTensorGemmParams");

}  // namespace quarry::grouped_gemm_sm90
