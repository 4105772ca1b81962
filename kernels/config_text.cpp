#include "config_text.hpp"

#include <algorithm>
#include <charconv>

#include "basic/text.hpp"
#include "basic/words.hpp"
#include "quarry/tensor.hpp"

namespace quarry {
namespace {

constexpr std::string_view layout_letters = "rcRC";
static_assert(layout_letters.size() == layout_count);

/// "w2x2x1"
std::string numbers_text(const Setting& setting, const SettingValue& value) {
  std::string text(setting.prefix);
  for (std::size_t i = 0; i < width(setting.kind); ++i) {
    if (i > 0) text += 'x';
    text += std::to_string(value[i]);
  }
  return text;
}

std::string value_text(const Setting& setting, const SettingValue& value) {
  switch (setting.kind) {
    case SettingKind::dtype: return std::string(to_string(static_cast<DType>(value[0])));
    case SettingKind::layouts:
      return name_of(Layouts{static_cast<Layout>(value[0]), static_cast<Layout>(value[1]),
                             static_cast<Layout>(value[2])});
    case SettingKind::word: return std::string(setting.words[static_cast<std::size_t>(value[0])]);
    default: return numbers_text(setting, value);
  }
}

/// Reads "w2x2x1"; numbers have no sign and no leading zero, so that each value has one text.
bool parse_numbers(const Setting& setting, std::string_view text, SettingValue& value) {
  if (!text.starts_with(setting.prefix)) return false;
  text.remove_prefix(setting.prefix.size());
  for (std::size_t i = 0; i < width(setting.kind); ++i) {
    if (i > 0) {
      if (!text.starts_with('x')) return false;
      text.remove_prefix(1);
    }
    if (text.empty() || text[0] < '1' || text[0] > '9') return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value[i]);
    if (error != std::errc() || value[i] > max_setting) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return text.empty();
}

/// The layouts of three letters; false where they are not.
bool parse_layouts(std::string_view letters, SettingValue& value) {
  if (letters.size() != value.size()) return false;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const std::size_t layout = layout_letters.find(letters[i]);
    if (layout == layout_letters.npos) return false;
    value[i] = static_cast<int>(layout);
  }
  return true;
}

/// The number of a type; false where there is no such type.
bool parse_type(std::string_view text, SettingValue& value) {
  const Result<DType> type = parse_dtype(text);
  if (type) value[0] = static_cast<int>(*type);
  return static_cast<bool>(type);
}

/// A word setting's number of a word; false where it is not one of them.
bool parse_word(const Setting& setting, std::string_view word, SettingValue& value) {
  const auto number = detail::value_of(setting.words, word);
  if (number) value[0] = static_cast<int>(*number);
  return number.has_value();
}

bool parse_value(const Setting& setting, std::string_view text, SettingValue& value) {
  switch (setting.kind) {
    case SettingKind::dtype: return parse_type(text, value);
    case SettingKind::layouts: return parse_layouts(text, value);
    case SettingKind::word: return parse_word(setting, text, value);
    default: return parse_numbers(setting, text, value);
  }
}

/// Whether a name does not mention the value.
bool is_unsaid(const Setting& setting, const SettingValue& value) {
  return setting.unsaid && *setting.unsaid == value[0];
}

/// The longest of a setting's words that a text begins with, as a whole part: words may have underscores of
/// their own. Empty where there is none; a word that names leave out does not count.
std::string_view word_part(const Setting& setting, std::string_view text) {
  std::string_view longest;
  for (std::size_t i = 0; i < setting.words.size(); ++i) {
    const std::string_view word = setting.words[i];
    const bool whole = text.starts_with(word) && (text.size() == word.size() || text[word.size()] == '_');
    if (whole && word.size() > longest.size() && !is_unsaid(setting, {static_cast<int>(i)})) longest = word;
  }
  return longest;
}

/// Whether it is the setting's prefix with a digit behind it: a later setting may begin with the same letter.
bool is_number_part(const Setting& setting, std::string_view part) {
  if (!part.starts_with(setting.prefix)) return false;
  part.remove_prefix(setting.prefix.size());
  return !part.empty() && part.front() >= '0' && part.front() <= '9';
}

/// The part of a name that is a setting's, from the front of what follows its `_`.
std::string_view part_of(const Setting& setting, std::string_view text) {
  if (setting.kind == SettingKind::word) return word_part(setting, text);
  const std::string_view part = text.substr(0, text.find('_'));
  return setting.unsaid && !is_number_part(setting, part) ? "" : part;
}

/// "expected `stages`"
std::string expected(const Setting& setting) {
  std::string what = "expected " + detail::quoted(setting.key);
  if (setting.kind == SettingKind::word) what += ": " + detail::join(setting.words, "or");
  return what;
}

}  // namespace

char letter_of(Layout layout) { return layout_letters[static_cast<std::size_t>(layout)]; }

std::string interleave_fault(const Types& types, const Layouts& layouts) {
  if (!is_interleaved(layouts) || (is_byte(types.a) && is_byte(types.b))) return "";
  return "only s8 and u8 operands and their outputs have interleaved layouts";
}

SettingValues unsaid_values(const ConfigSpace& space) {
  SettingValues values(space.settings.size(), SettingValue{});
  for (std::size_t i = 0; i < values.size(); ++i) values[i][0] = space.settings[i].unsaid.value_or(0);
  return values;
}

std::string folder_fault(std::string_view folder, const ConfigSpace& space) {
  if (space.family == folder) return "";
  const std::string path = "kernels/" + std::string(folder);
  return path + "/space.cpp: the family calls itself " + detail::quoted(space.family) + ", expected " +
         detail::quoted(folder) +
         ": folder, namespace, name in space.cpp and `family` of space.json must agree";
}

std::string config_name(const ConfigSpace& space, const SettingValues& values) {
  std::string name(space.family);
  for (std::size_t i = 0; i < space.settings.size(); ++i) {
    if (is_unsaid(space.settings[i], values[i])) continue;
    name += '_';
    name += value_text(space.settings[i], values[i]);
  }
  return name;
}

Result<SettingValues> parse_config_name(const ConfigSpace& space, std::string_view name) {
  std::string_view rest = name;
  if (!rest.starts_with(space.family)) {
    return detail::error_in_line(StatusCode::parse_error,
                                 "the name of such a kernel starts with " + detail::quoted(space.family),
                                 name, 0);
  }
  rest.remove_prefix(space.family.size());
  SettingValues values = unsaid_values(space);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Setting& setting = space.settings[i];
    const auto at = static_cast<std::size_t>(rest.data() - name.data());
    const bool more = rest.starts_with('_');
    const std::string_view part = more ? part_of(setting, rest.substr(1)) : std::string_view();
    if (part.empty() && setting.unsaid) continue;
    if (!more || !parse_value(setting, part, values[i]) || is_unsaid(setting, values[i])) {
      return detail::error_in_line(StatusCode::parse_error, expected(setting), name, at + (more ? 1 : 0));
    }
    rest.remove_prefix(1 + part.size());
  }
  if (!rest.empty()) {
    return detail::error_in_line(StatusCode::parse_error, "expected the end of the name", name,
                                 name.size() - rest.size());
  }
  return values;
}

bool is_exchanged(const ConfigSpace& space, const SettingValues& values) {
  if (space.entry_problem != EntryProblem::transposed || space.entry(values) == values) return false;
  // One that copies operands first runs another config's code in either orientation.
  const DesignMetadata design = space.describe(values, "").design;
  return !design.reorders || design.orientation == Orientation::exchanged;
}

std::string kernel_fault(const ConfigSpace& space, const SettingValues& values) {
  if (std::string wrong = space.fault(values); !wrong.empty()) return wrong;
  const KernelMetadata kernel = space.describe(values, "");
  const bool lacks_weights =
      kernel.operands.scales == ScaleSupport::zero_points && !is_unsigned(kernel.operands.b.dtype);
  return lacks_weights ? "zero points are B's, which must be u4 or u8" : "";
}

std::string name_of(const Types& types) {
  std::string name(to_string(types.a));
  for (const DType type : {types.b, types.accumulator, types.out}) name.append("_").append(to_string(type));
  return name;
}

std::string name_of(const Layouts& layouts) {
  return {letter_of(layouts.a), letter_of(layouts.b), letter_of(layouts.out)};
}

std::string read_text(const Setting& setting, std::string_view text, SettingValue& value) {
  if (parse_value(setting, text, value)) return "";
  switch (setting.kind) {
    case SettingKind::layouts: return "expected three letters of r, c, R and C, for a, b and out";
    case SettingKind::word: return detail::unknown_word("word", text, setting.words);
    default: return detail::unknown_word("type", text, std::span(detail::dtype_words).subspan(1));
  }
}

}  // namespace quarry
