/// conv2d_sm80 configs as text: conv2d_sm80_fprop_bf16_bf16_f32_bf16_128x128x32_w2x2x1_s4_analytic_a8x8.
#include <algorithm>

#include "conv2d_sm80/describe.hpp"
#include "gemm_sm80/fault.hpp"
#include "quarry/tensor.hpp"
#include "settings.hpp"

namespace quarry::conv2d_sm80 {

/// Each runs its own device code.
static Config entry(const Config& c) { return c; }

namespace {

constexpr auto settings = convolution_settings<Config>(
    {setting<&Config::warps>("warps", "w"), setting<&Config::stages>("stages", "s"),
     word_setting<&Config::iterator>("iterator"), word_setting<&Config::strides>("strides", Strides::any),
     word_setting<&Config::filter>("filter", Filter::any), word_setting<&Config::math>("math", Math::exact),
     setting<&Config::alignment>("alignment", "a"),
     word_setting<&Config::layout, Layout::row, Layout::column_interleaved32>("layout", Layout::row,
                                                                              channel_layout_words)});

/// Elements that are gathered one by one: each has a place of its own, so compilers take long for many.
constexpr int most_single_elements = 32;

/// Why an operand cannot be gathered, "" where it can.
std::string gather_fault(std::string_view operand, const OperandTile& tile, int threads) {
  const int bytes = tile.alignment * tile.element_bytes;
  if (bytes >= 4) return "";
  if (tile.element_bytes == 1) return "the alignment of bytes must be 4, 8 or 16: convolutions copy words";
  const PieceMap map = piece_map(tile, tile.chunk_elements(), threads);
  if (map.pieces() * tile.chunk_elements() <= most_single_elements) return "";
  return std::to_string(threads) + " threads are too few to copy the tile of " + std::string(operand) +
         " in single elements";
}

/// Why a config cannot have its iterator, strides or filter, "" where it can.
std::string windows_fault(const Config& c) {
  const bool is_asynchronous = std::min(c.alignment.a, c.alignment.b) * bytes_of(c.types.a) >= 4;
  const bool is_dgrad = c.direction == Direction::dgrad;
  if (c.iterator == Iterator::optimized && (c.direction == Direction::wgrad || !is_asynchronous))
    return "optimized can be chosen only for fprop and dgrad, with alignments of 4 bytes or more";
  if (c.iterator == Iterator::optimized && is_dgrad && c.strides == Strides::any)
    return "optimized takes a dgrad with strides unity or strided";
  const bool is_fixed = c.alignment.a == c.alignment.b && c.alignment.a >= 2 && c.alignment.a <= 8;
  if (c.iterator == Iterator::fixed_channels &&
      (c.direction != Direction::fprop || !is_fixed || !is_asynchronous))
    return "fixed_channels can be chosen only for fprop, with both alignments 2, 4 or 8, and 4 bytes or more";
  if (c.strides != Strides::any && !is_dgrad) return "unity and strided can be chosen only for dgrad";
  const bool takes_one = c.iterator == Iterator::analytic && is_asynchronous &&
                         (c.direction == Direction::fprop || (is_dgrad && c.strides == Strides::unity));
  if (c.filter == Filter::one && !takes_one)
    return "the filter one can be chosen only for analytic fprop, and dgrad with strides unity, with "
           "alignments of 4 bytes or more";
  return "";
}

bool is_power_of_two(int number) { return (number & (number - 1)) == 0; }

/// Why a wgrad cannot have Iterator::window, "" where it can. @param code of its product, which multiplies
std::string gradient_fault(const Config& c, const gemm_sm80::Config& code) {
  if (c.alignment.a < 2 || c.alignment.b != 1 || !is_half(c.types.a))
    return "a wgrad with window has f16 or bf16, an alignment of a of 4 bytes or more, and of b of 1";
  if (c.stages != 1) return "a wgrad with window has one stage";
  if (!is_power_of_two(c.tile.k)) return "tile.k must be a power of two for a wgrad with window";
  const Tile warp = gemm_sm80::warp_tile(code);
  if (warp.m * warp.n / 32 > 64 || threads(c) > 512)
    return "a thread of window has 64 sums at most, a block 512 threads";
  return shared_memory_bytes(c) <= 227 * 1024 ? "" : "more shared memory than any device has";
}

/// Why a config cannot have Iterator::window, "" where it can. @param code of its product, without fault
std::string window_fault(const Config& c, const gemm_sm80::Config& code) {
  if (c.direction == Direction::wgrad) return gradient_fault(c, code);
  const bool is_single = c.alignment.a == 1 && c.alignment.b == 1 && is_half(c.types.a);
  if (c.direction != Direction::fprop || !is_single)
    return "window can be chosen only for fprop of f16 and bf16, with alignments of 1, and for wgrad";
  if (c.warps.k != 1) return "window has no warps along K";
  if (c.stages < 1 || c.stages > 16) return "stages must be 1 to 16";
  const int warps = threads(c) / 32;
  if (c.tile.n % warps != 0 || c.tile.n / warps > most_single_elements)
    return "the warps cannot share the columns of a tile evenly, at most " +
           std::to_string(most_single_elements) + " each";
  if (!is_power_of_two(c.tile.m)) return "tile.m must be a power of two for window";
  // 128 registers of a thread must do for its sums, the operands of a step and what else there is.
  const Tile warp = gemm_sm80::warp_tile(code);
  if (warp.m * warp.n / 32 > 64 || threads(c) > 512)
    return "a thread of window has 64 sums at most, a block 512 threads";
  return shared_memory_bytes(c) <= 227 * 1024 ? "" : "more shared memory than any device has";
}

/// Those of Strides::strided and of Iterator::window have more parameters.
std::string_view own_params(const SettingValues& values) {
  const Config c = config_of(settings, values);
  if (c.iterator == Iterator::window) return "quarry::WindowConv2dParams";
  return c.strides == Strides::strided ? "quarry::PhasedConv2dParams" : "";
}

std::string fault(const Config& c) {
  if (std::string why = channel_layout_fault(c.direction, c.types, c.layout); !why.empty()) return why;
  const gemm_sm80::Config code = product(c);
  if (std::string why = gemm_sm80::product_fault(code); !why.empty()) return why;
  if (std::string why = brings_gradients(c) ? "" : gemm_sm80::copies_fault(code); !why.empty()) return why;
  const bool is_single = c.alignment.a == 1 && c.alignment.b == 1 && is_half(c.types.a);
  if (c.iterator == Iterator::few_channels && (c.direction != Direction::fprop || !is_single))
    return "few_channels can be chosen only for fprop of f16 and bf16, with alignments of 1";
  if (std::string why = windows_fault(c); !why.empty()) return why;
  if (c.iterator == Iterator::window) return window_fault(c, code);
  std::string why = gather_fault("a", tile_a(code), threads(c));
  if (why.empty()) why = gather_fault("b", tile_b(code), threads(c));
  return why;
}

/// Types apart: f32 makes other code for each target.
std::string unit_group(const Config& c) {
  return std::string(to_string(c.direction)) + "_" + name_of(c.types);
}

}  // namespace

constexpr ConfigSpace with_own_params(ConfigSpace space) {
  space.own_params = own_params;
  return space;
}

extern const ConfigSpace space;
constinit const ConfigSpace space = with_own_params(
    config_space<settings, fault, unit_group>(family_name, "quarry::Conv2dParams", EntryProblem::same));

}  // namespace quarry::conv2d_sm80
