/// conv2d_simt configs as text: conv2d_simt_fprop_f32_f32_f32_f32_64x64x16_t4x4.
#include "conv2d_simt/describe.hpp"
#include "gemm_simt/fault.hpp"
#include "quarry/tensor.hpp"
#include "settings.hpp"

namespace quarry::conv2d_simt {

/// Each runs its own device code.
static Config entry(const Config& c) { return c; }

namespace {

constexpr auto settings =
    convolution_settings<Config>({pair_setting<&Config::thread_m, &Config::thread_n>("thread", "t"),
                                  word_setting<&Config::layout, Layout::row, Layout::column_interleaved32>(
                                      "layout", Layout::row, channel_layout_words)});

std::string fault(const Config& c) {
  if (std::string why = gemm_simt::half_byte_fault(c.types); !why.empty()) return why;
  if (std::string why = channel_layout_fault(c.direction, c.types, c.layout); !why.empty()) return why;
  return gemm_simt::fault(product(c));
}

/// A direction has few configs, so their types go together.
std::string unit_group(const Config& c) { return std::string(to_string(c.direction)); }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space =
    config_space<settings, fault, unit_group>(family_name, "quarry::Conv2dParams", EntryProblem::same);

}  // namespace quarry::conv2d_simt
