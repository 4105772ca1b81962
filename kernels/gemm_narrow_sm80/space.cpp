/// gemm_narrow_sm80 configs as text: gemm_narrow_sm80_bf16_s4_f32_bf16_rcr_16x64x1024_w1x1x8_s4.
#include <string>

#include "gemm_narrow_sm80/describe.hpp"
#include "settings.hpp"

namespace quarry::gemm_narrow_sm80 {

inline constexpr std::string_view weight_loads_words[] = {"staged", "direct"};
constexpr EnumText enum_text(WeightLoads) {
  return {"quarry::gemm_narrow_sm80::WeightLoads", weight_loads_words};
}

namespace {

constexpr auto settings = gemm_settings<Config>({
    setting<&Config::warps>("warps", "w"),
    setting<&Config::stages>("stages", "s"),
    word_setting<&Config::scales, ScaleSupport::group_scales, ScaleSupport::zero_points,
                 ScaleSupport::block_scales>("scales", ScaleSupport::group_scales),
    word_setting<&Config::loads>("loads", WeightLoads::staged),
});

std::string unit_group(const Config& c) {
  return name_of(c.types) + (loads_directly(c) ? "_direct" : "");  // which is for one target
}

/// What is wrong with a tile whose weights are staged, "" where nothing is.
std::string staged_fault(const Config& c) {
  if (c.scales == ScaleSupport::block_scales) return "scales of staged loads are group_scales or zero_points";
  if (c.tile.n % group_threads(c) != 0) return "tile.n must be a multiple of 32 a warp, up to 256";
  if (c.tile.m * 16 % group_threads(c) != 0) return "threads cannot share the copies of A evenly";
  if (c.tile.n * weight_bits(c) > 32 * group_threads(c))
    return "a thread would copy more than 32 pieces of B for a stage";
  return "";
}

/// The same of one whose weights are read directly. A lane reads 32 neighbours along K of a column, and
/// three others the next ones, so that a scale must be for all 128.
std::string direct_fault(const Config& c) {
  if (c.scales != ScaleSupport::block_scales) return "scales of direct loads are block_scales";
  if (weight_bits(c) != 4) return "direct loads are of weights of 4 bits";
  if (c.tile.m > 16 || c.tile.n / c.warps.n > 64)
    return "direct loads are for tiles of 16 x 64 a warp at most";
  if (c.stages != 2 && c.stages != 4) return "stages of direct loads must be 2 or 4";
  return "";
}

/// What is wrong with the tile and the warps, "" where nothing is.
std::string tile_fault(const Config& c) {
  if (c.warps.m != 1 || c.warps.n < 1 || c.warps.k < 1 || c.warps.n > 8 || c.warps.k > 8)
    return "warps must be one along M, and up to 8 along N and K";
  if (threads(c) > 1024) return "more than 1024 threads";
  if (c.tile.k != stage_k * c.warps.k)
    return "tile.k must be " + std::to_string(stage_k) + " for each warp along K";
  if (c.tile.m % 8 != 0 || c.tile.m < 8 || c.tile.m > 128) return "tile.m must be a multiple of 8 up to 128";
  if (c.tile.n < 32 || c.tile.n > 256 || c.tile.n % (16 * c.warps.n) != 0)
    return "tile.n must be a multiple of 32 a warp, up to 256";
  if (std::string why = loads_directly(c) ? direct_fault(c) : staged_fault(c); !why.empty()) return why;
  if (c.tile.m * (c.tile.n / c.warps.n) > 64 * 32) return "a warp's tile has more than 2048 sums";
  return "";
}

/// Why there can be no such kernel, "" where there can.
std::string fault(const Config& c) {
  const bool has_weights = is_half_byte(c.types.b) || is_byte(c.types.b);
  if (!has_weight_types(c.types) || !has_weights)
    return "A must be f16 or bf16 and B s4, u4, s8 or u8; sums are f32, the output is f32 or of A's type";
  if (has_zeros(c) && !has_unsigned_weights(c.types)) return "zero points are for weights of u4 and u8";
  if (c.layouts != Layouts{Layout::row, Layout::column, Layout::row})
    return "A and the output must be row-major, B column-major: weights are contiguous along K";
  if (std::string why = tile_fault(c); !why.empty()) return why;
  if (c.stages < 2 || c.stages > 8) return "stages must be 2 to 8";
  return shared_memory_bytes(c) > 227 * 1024 ? "more shared memory than any device has" : "";
}

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(family_name);

}  // namespace quarry::gemm_narrow_sm80
