/// reduce_split_k configs as text: reduce_split_k_f32_f16. Types of the partial sums and of the output.
#include "quarry/tensor.hpp"
#include "reduce_split_k/describe.hpp"
#include "settings.hpp"

namespace quarry::reduce_split_k {

/// Each runs its own device code.
static Config entry(const Config& c) { return c; }

namespace {

/// Of the output: any strides, or column_interleaved32.
constexpr std::string_view layout_words[] = {"strided", "interleaved32"};

constexpr auto settings =
    settings_of<Config>({setting<&Config::partial>("partials"), setting<&Config::out>("out"),
                         word_setting<&Config::layout, Layout::row, Layout::column_interleaved32>(
                             "layout", Layout::row, layout_words)});

std::string fault(const Config& c) {
  if (partial_type(c.partial) != c.partial) return "partial sums are f32, f64 or s32";
  if (c.partial == DType::s32) {
    return takes_integer_sums(c.out) ? "" : "the output of s32 sums must be s32, s8, u8 or f32";
  }
  if (is_interleaved(c.layout)) return "only outputs of s32 sums can be interleaved";
  if (!is_floating(c.out)) return "the output of floating-point sums must be floating-point";
  return is_fp8(c.out) && c.partial != DType::f32 ? "an output of e4m3 or e5m2 needs sums of f32" : "";
}

/// There are few, and all go together.
std::string unit_group(const Config&) { return ""; }

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(family_name, reduce_params);

std::string name_of(const Config& c) { return config_name(space, values_of(settings, c)); }

}  // namespace quarry::reduce_split_k
