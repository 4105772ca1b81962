#include "basic/words.hpp"

#include <string>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "quarry/operation.hpp"
#include "quarry/tensor.hpp"

namespace quarry {
namespace {

// A word for every enumerator: the last one of each enum stands at the end of its table.
static_assert(detail::word_of(detail::dtype_words, DType::u4) == "u4");
static_assert(info_of(DType::u4).type == DType::u4);
static_assert(std::size(detail::layout_words) == layout_count);
static_assert(layout_count == static_cast<int>(Layout::column_interleaved32) + 1);
static_assert(std::size(detail::tag_words) == static_cast<std::size_t>(LayoutTag::column_interleaved32) + 1);
static_assert(std::size(detail::mode_words) == static_cast<std::size_t>(Mode::stream_k) + 1);
static_assert(std::size(detail::activation_words) == static_cast<std::size_t>(Activation::gelu_tanh) + 1);
static_assert(std::size(detail::accumulation_words) == static_cast<std::size_t>(Accumulation::precise) + 1);
static_assert(std::size(detail::math_words) == static_cast<std::size_t>(Math::fast_bf16) + 1);
static_assert(std::size(detail::math_unit_words) == static_cast<std::size_t>(MathUnit::tensor_core) + 1);
static_assert(std::size(detail::operand_words) == static_cast<std::size_t>(last_operand) + 1);
static_assert(std::size(detail::control_words) ==
              static_cast<std::size_t>(detail::ControlName::multiprocessors) + 1);
static_assert(std::size(detail::direction_words) == static_cast<std::size_t>(Direction::wgrad) + 1);
static_assert(std::size(detail::raster_words) == static_cast<std::size_t>(Raster::along_m) + 1);
static_assert(std::size(detail::schedule_words) == static_cast<std::size_t>(Schedule::stream_k) + 1);
static_assert(std::size(detail::copy_engine_words) == static_cast<std::size_t>(CopyEngine::cp_async) + 1);
static_assert(std::size(detail::orientation_words) == static_cast<std::size_t>(Orientation::exchanged) + 1);
static_assert(std::size(detail::iterator_words) == static_cast<std::size_t>(WindowIterator::window) + 1);
static_assert(std::size(detail::strides_words) == static_cast<std::size_t>(WindowStrides::strided) + 1);
static_assert(std::size(detail::filter_words) == static_cast<std::size_t>(WindowFilter::one) + 1);
static_assert(std::size(detail::scale_support_words) ==
              static_cast<std::size_t>(ScaleSupport::zero_points) + 1);
static_assert(std::size(detail::status_words) == static_cast<std::size_t>(StatusCode::file_error) + 1);

/// What types are called elsewhere, in lower case, and their words here.
constexpr std::string_view other_names[][2] = {{"half", "f16"},
                                               {"float16", "f16"},
                                               {"bfloat16", "bf16"},
                                               {"float", "f32"},
                                               {"fp32", "f32"},
                                               {"float32", "f32"},
                                               {"single", "f32"},
                                               {"double", "f64"},
                                               {"fp64", "f64"},
                                               {"float64", "f64"},
                                               {"int8", "s8"},
                                               {"i8", "s8"},
                                               {"char", "s8"},
                                               {"uint8", "u8"},
                                               {"byte", "u8"},
                                               {"int32", "s32"},
                                               {"i32", "s32"},
                                               {"int", "s32"},
                                               {"int4", "s4"},
                                               {"i4", "s4"},
                                               {"uint4", "u4"},
                                               {"fp8_e4m3", "e4m3"},
                                               {"f8e4m3", "e4m3"},
                                               {"e4m3fn", "e4m3"},
                                               {"fp8e4m3", "e4m3"},
                                               {"float8_e4m3", "e4m3"},
                                               {"float8_e4m3fn", "e4m3"},
                                               {"fp8_e5m2", "e5m2"},
                                               {"f8e5m2", "e5m2"},
                                               {"fp8e5m2", "e5m2"},
                                               {"float8_e5m2", "e5m2"}};

/// The one of `words` that another name stands for; "" if the name stands for none of them.
std::string_view word_of_other_name(std::string_view name, std::span<const std::string_view> words) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const auto& [other, word] : other_names) {
    if (other == lower && detail::value_of(words, word)) return word;
  }
  return {};
}

/// The enumerator that a word names; `words` begin with enumerator `first`.
template <class Enum>
Result<Enum> parse(std::string_view what, std::string_view word, std::span<const std::string_view> words,
                   Enum first = Enum{}) {
  if (const auto value = detail::value_of(words, word)) {
    return static_cast<Enum>(*value + static_cast<std::size_t>(first));
  }
  const StatusCode code = word.empty() ? StatusCode::parse_error : StatusCode::not_found;
  return Status(code, detail::unknown_word(what, word, words));
}

}  // namespace

std::string detail::unknown_word(std::string_view what, std::string_view word,
                                 std::span<const std::string_view> words) {
  const std::string unknown = "unknown " + std::string(what) + " " + quoted(word);
  if (const std::string_view meant = word_of_other_name(word, words); !meant.empty())
    return unknown + "; did you mean " + quoted(meant) + "?";
  const std::string nearest = did_you_mean(word, words);
  return unknown + (nearest.empty() ? "; expected " + join(words, "or") : nearest);
}

std::string_view to_string(StatusCode code) { return detail::word_of(detail::status_words, code); }
std::string_view to_string(Operand operand) { return detail::word_of(detail::operand_words, operand); }
std::string_view to_string(DType type) { return detail::word_of(detail::dtype_words, type); }
std::string_view to_string(Layout layout) { return detail::word_of(detail::layout_words, layout); }
std::string_view to_string(LayoutTag tag) { return detail::word_of(detail::tag_words, tag); }
std::string_view to_string(Operation operation) {
  return detail::word_of(detail::operation_words, operation);
}
std::string_view to_string(Mode mode) { return detail::word_of(detail::mode_words, mode); }
std::string_view to_string(Activation activation) {
  return detail::word_of(detail::activation_words, activation);
}
std::string_view to_string(Direction direction) {
  return detail::word_of(detail::direction_words, direction);
}
std::string_view to_string(Raster raster) { return detail::word_of(detail::raster_words, raster); }
std::string_view to_string(Schedule schedule) { return detail::word_of(detail::schedule_words, schedule); }
std::string_view to_string(CopyEngine engine) { return detail::word_of(detail::copy_engine_words, engine); }
std::string_view to_string(Orientation orientation) {
  return detail::word_of(detail::orientation_words, orientation);
}
std::string_view to_string(WindowIterator iterator) {
  return detail::word_of(detail::iterator_words, iterator);
}
std::string_view to_string(WindowStrides strides) { return detail::word_of(detail::strides_words, strides); }
std::string_view to_string(WindowFilter filter) { return detail::word_of(detail::filter_words, filter); }
std::string_view to_string(ScaleSupport support) {
  return detail::word_of(detail::scale_support_words, support);
}
std::string_view to_string(Math math) { return detail::word_of(detail::math_words, math); }
std::string_view to_string(Accumulation accumulation) {
  return detail::word_of(detail::accumulation_words, accumulation);
}
std::string_view to_string(MathUnit unit) { return detail::word_of(detail::math_unit_words, unit); }

Result<DType> parse_dtype(std::string_view name) {
  return parse("type", name, std::span(detail::dtype_words).subspan(1), DType::f16);
}
Result<Layout> parse_layout(std::string_view name) {
  return parse<Layout>("layout", name, detail::layout_words);
}
Result<Mode> parse_mode(std::string_view name) { return parse<Mode>("mode", name, detail::mode_words); }
Result<Direction> parse_direction(std::string_view name) {
  return parse<Direction>("direction", name, detail::direction_words);
}
Result<Raster> parse_raster(std::string_view name) {
  return parse<Raster>("raster", name, detail::raster_words);
}
Result<Math> parse_math(std::string_view name) { return parse<Math>("math", name, detail::math_words); }
Result<Accumulation> parse_accumulation(std::string_view name) {
  return parse<Accumulation>("accumulation", name, detail::accumulation_words);
}
Result<Activation> parse_activation(std::string_view name) {
  return parse<Activation>("activation", name, detail::activation_words);
}

}  // namespace quarry
