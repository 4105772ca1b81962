/// The words of the library's enums: one table each, from which names, parsing, metadata and messages come.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "operation_words.hpp"  // written by the build, from the list of operations
#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry::detail {

/// The words by enum value. `none` is the absence of a type: it has a word, but parses to nothing.
inline constexpr std::array<std::string_view, dtype_count> dtype_words = [] {
  std::array<std::string_view, dtype_count> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = element_types.rows[i].name;
  return words;
}();
inline constexpr std::string_view layout_words[] = {"row", "column", "row_interleaved32",
                                                    "column_interleaved32"};
inline constexpr std::string_view tag_words[] = {"strided", "row_interleaved32", "column_interleaved32"};
inline constexpr std::string_view mode_words[] = {"gemm", "split_k_serial", "split_k_parallel",
                                                  "split_k_cluster", "stream_k"};
inline constexpr std::string_view activation_words[] = {
    "identity", "relu", "leaky_relu", "tanh", "sigmoid", "silu", "hardswish", "gelu", "gelu_tanh"};
inline constexpr std::string_view math_words[] = {"exact", "fast_tf32", "fast_f32", "fast_f16", "fast_bf16"};
inline constexpr std::string_view accumulation_words[] = {"fast", "precise"};
inline constexpr std::string_view math_unit_words[] = {"simt", "tensor_core"};
inline constexpr std::string_view operand_words[] = {
    "none",      "a",         "b",        "c",       "out",      "bias",    "alpha",   "beta",
    "workspace", "scale",     "residual", "aux",     "partials", "from",    "to",      "a_scale",
    "b_scale",   "out_scale", "tensor0",  "tensor1", "tensor2",  "tensor3", "tensor4", "tensor5",
    "tensor6",   "tensor7",   "sizes",    "leading", "b_zero"};
inline constexpr std::string_view direction_words[] = {"fprop", "dgrad", "wgrad"};
inline constexpr std::string_view raster_words[] = {"along_n", "along_m"};
inline constexpr std::string_view schedule_words[] = {"cooperative", "ping_pong", "one_tile", "stream_k"};
inline constexpr std::string_view copy_engine_words[] = {"tma", "cp_async"};
inline constexpr std::string_view orientation_words[] = {"direct", "exchanged"};
inline constexpr std::string_view iterator_words[] = {"analytic", "few_channels", "optimized",
                                                      "fixed_channels", "window"};
inline constexpr std::string_view strides_words[] = {"any", "unity", "strided"};
inline constexpr std::string_view filter_words[] = {"any", "one"};
inline constexpr std::string_view granularity_words[] = {"tensor",  "row",  "column", "1x128",
                                                         "128x128", "1x32", "1x64"};
inline constexpr std::string_view scale_support_words[] = {"none", "vector_scales", "block_scales",
                                                           "group_scales", "zero_points"};
inline constexpr std::string_view control_words[] = {"mode", "split_k_slices", "swizzle", "raster",
                                                     "multiprocessors"};
inline constexpr std::string_view status_words[] = {
    "ok",           "invalid_arguments", "unsupported",      "no_kernel",
    "filtered_out", "invalid_workspace", "not_loaded",       "not_precompiled",
    "no_device",    "device_error",      "not_found",        "parse_error",
    "no_compiler",  "compile_error",     "invalid_artifact", "file_error"};

/// The word of a value, "unknown" for a value that has none.
template <class Value>
constexpr std::string_view word_of(std::span<const std::string_view> words, Value value) {
  const auto index = static_cast<std::size_t>(value);
  return index < words.size() ? words[index] : "unknown";
}

/// The value of a word.
constexpr std::optional<std::size_t> value_of(std::span<const std::string_view> words,
                                              std::string_view word) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == word) return i;
  }
  return std::nullopt;
}

/// The complaint that `word` is not one of `words`, without its final stop: "unknown type `fp16`; did you
/// mean `f16` or `bf16`?", or the list of all words where none is near. `what` says what the word should
/// name.
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> words);

}  // namespace quarry::detail
