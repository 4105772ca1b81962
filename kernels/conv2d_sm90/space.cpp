/// conv2d_sm90 configs as text: conv2d_sm90_fprop_bf16_bf16_f32_bf16_128x128x64_c1x1_s6_cooperative.
#include "conv2d_sm90/describe.hpp"
#include "gemm_sm90/fault.hpp"
#include "quarry/tensor.hpp"
#include "settings.hpp"

namespace quarry::conv2d_sm90 {

/// Tensors are reordered for the device code of neighbouring channels.
static Config entry(const Config& c) {
  Config result = c;
  result.layout = Layout::row;
  return result;
}

namespace {

constexpr auto settings = convolution_settings<Config>(
    {setting<&Config::cluster>("cluster", "c"), setting<&Config::stages>("stages", "s"),
     word_setting<&Config::schedule, Schedule::cooperative, Schedule::ping_pong, Schedule::one_tile>(
         "schedule"),
     word_setting<&Config::strides, WindowStrides::unity, WindowStrides::strided>("strides",
                                                                                  WindowStrides::unity),
     word_setting<&Config::layout, Layout::row, Layout::column_interleaved32>("layout", Layout::row,
                                                                              channel_layout_words)});

bool has_byte_types(const Types& t) { return is_byte(t.a) && is_byte(t.b); }

/// Why the blocks of a cluster cannot share copies so. Windows come in parts, not in turns.
std::string share_fault(const gemm_sm90::Config& code) {
  for (const gemm_sm90::OperandBox& box : {gemm_sm90::box_a(code), gemm_sm90::box_b(code)}) {
    if (box.in_turns())
      return "the cluster's blocks cannot share the copies of an operand in eights of lines";
  }
  return "";
}

/// What the copies of pixels need beyond what copies of matrices need.
std::string fault(const Config& c) {
  if (!has_half_types(c.types) && !has_byte_types(c.types)) {
    return "operands must be both f16 or bf16, with sums of f16 or f32, or s8 and u8, with sums of s32";
  }
  if (std::string why = channel_layout_fault(c.direction, c.types, c.layout); !why.empty()) return why;
  if (std::string why = gemm_sm90::fault(product(c)); !why.empty()) return why;
  if (std::string why = share_fault(gemm_sm90::entry(product(c))); !why.empty()) return why;
  if (c.strides != WindowStrides::unity && c.direction != Direction::dgrad)
    return "strided can be chosen only for dgrad: other directions take strides as they are";
  if (c.direction == Direction::wgrad) {
    return c.tile.n % 64 == 0 || c.cluster.n == 1
               ? ""
               : "tile.n must be a multiple of 64 for wgrad where a cluster has blocks along N";
  }
  if (c.tile.k == 64 || (has_byte_types(c.types) && c.tile.k == 128)) return "";
  return "tile.k must be 64, or 128 with operands of bytes: channels come in lines of up to 128 bytes";
}

/// Those of dgrad in phases have more parameters.
std::string_view own_params(const SettingValues& values) {
  return is_phased(config_of(settings, values)) ? "quarry::PhasedTensorConv2dParams" : "";
}

/// A direction has few configs, so their types go together.
std::string unit_group(const Config& c) {
  return std::string(to_string(c.direction)) + (is_phased(c) ? "_phases" : "");
}

}  // namespace

constexpr ConfigSpace with_own_params(ConfigSpace space) {
  space.own_params = own_params;
  return space;
}

extern const ConfigSpace space;
constinit const ConfigSpace space = with_own_params(
    config_space<settings, fault, unit_group>(family_name, "quarry::TensorConv2dParams", EntryProblem::same));

}  // namespace quarry::conv2d_sm90
