/// conv2d_sm80 configs as text: conv2d_sm80_fprop_bf16_bf16_f32_bf16_128x128x32_w2x2x1_s4_analytic_a8x8.
#include "conv2d_sm80/describe.hpp"
#include "gemm_sm80/fault.hpp"
#include "quarry/tensor.hpp"
#include "settings.hpp"

namespace quarry::conv2d_sm80 {

static constexpr std::string_view iterator_words[] = {"analytic", "few_channels"};
static constexpr EnumText enum_text(Iterator) { return {"quarry::conv2d_sm80::Iterator", iterator_words}; }

/// Each runs its own device code.
static Config entry(const Config& c) { return c; }

namespace {

constexpr auto settings = convolution_settings<Config>(
    {setting<&Config::warps>("warps", "w"), setting<&Config::stages>("stages", "s"),
     word_setting<&Config::iterator>("iterator"), word_setting<&Config::math>("math", Math::exact),
     setting<&Config::alignment>("alignment", "a")});

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

std::string fault(const Config& c) {
  const gemm_sm80::Config code = product(c);
  if (std::string why = gemm_sm80::fault(code); !why.empty()) return why;
  const bool is_single = c.alignment.a == 1 && c.alignment.b == 1 && is_half(c.types.a);
  if (c.iterator == Iterator::few_channels && (c.direction != Direction::fprop || !is_single))
    return "few_channels can be chosen only for fprop of f16 and bf16, with alignments of 1";
  std::string why = gather_fault("a", tile_a(code), threads(c));
  if (why.empty()) why = gather_fault("b", tile_b(code), threads(c));
  return why;
}

/// Types apart: f32 makes other code for each target.
std::string unit_group(const Config& c) {
  return std::string(to_string(c.direction)) + "_" + name_of(c.types);
}

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space =
    config_space<settings, fault, unit_group>(family_name, "quarry::Conv2dParams", EntryProblem::same);

}  // namespace quarry::conv2d_sm80
