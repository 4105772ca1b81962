/// reduce_split_k configs as text: reduce_split_k_f32_f16. Types of the partial sums and of the output.
#include "config_text.hpp"
#include "quarry/tensor.hpp"
#include "reduce_split_k/describe.hpp"

namespace quarry::reduce_split_k {
namespace {

/// Of the output: any strides, or column_interleaved32.
constexpr std::string_view layout_words[] = {"strided", "interleaved32"};

constexpr Setting settings[] = {{"partials", SettingKind::dtype},
                                {"out", SettingKind::dtype},
                                {"layout", SettingKind::word, "", layout_words, 0}};

Config config_of(const SettingValues& v) {
  return {static_cast<DType>(v[0][0]), static_cast<DType>(v[1][0]),
          v[2][0] == 0 ? Layout::row : Layout::column_interleaved32};
}

SettingValues entry_values(const SettingValues& v) { return v; }

KernelMetadata describe_values(const SettingValues& v, std::string_view name) {
  return describe(config_of(v), name);
}

std::string literal(const SettingValues& v) {
  const Config c = config_of(v);
  return "{quarry::DType::" + std::string(to_string(c.partial)) +
         ", quarry::DType::" + std::string(to_string(c.out)) +
         (is_interleaved(c.layout) ? ", quarry::Layout::" + std::string(to_string(c.layout)) : "") + "}";
}

std::string fault(const SettingValues& v) {
  const Config c = config_of(v);
  if (partial_type(c.partial) != c.partial) return "partial sums are f32, f64 or s32";
  if (c.partial == DType::s32) {
    const bool known = is_integer(c.out) || c.out == DType::f32;
    return known ? "" : "the output of s32 sums must be s32, s8, u8 or f32";
  }
  if (is_interleaved(c.layout)) return "outputs of s32 sums alone are interleaved";
  return is_integer(c.out) ? "the output of floating-point sums must be floating-point" : "";
}

const void* kept(const SettingValues& v) { return new Config(config_of(v)); }

/// There are few, and all go together.
std::string unit_group(const SettingValues&) { return ""; }

}  // namespace

extern const ConfigSpace space;
const ConfigSpace space = {.family = "reduce_split_k",
                           .settings = settings,
                           .fault = fault,
                           .entry = entry_values,
                           .describe = describe_values,
                           .literal = literal,
                           .unit_group = unit_group,
                           .kept = kept,
                           .params = reduce_params};

}  // namespace quarry::reduce_split_k
