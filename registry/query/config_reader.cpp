#include "registry/query/config_reader.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "basic/words.hpp"
#include "registry/query/flat_json.hpp"

namespace quarry::detail {
namespace {

std::vector<std::string_view> family_names() {
  std::vector<std::string_view> names;
  for (const FamilySides& family : families()) names.push_back(family.space->family);
  return names;
}

// ---- Names

/// The family that a kernel's name begins with; null where there is none.
const FamilySides* family_in(std::string_view name) {
  const FamilySides* longest = nullptr;
  for (const FamilySides& family : families()) {
    const std::string_view begin = family.space->family;
    const bool fits = name.starts_with(begin) && (name.size() == begin.size() || name[begin.size()] == '_');
    if (fits && (longest == nullptr || begin.size() > longest->space->family.size())) longest = &family;
  }
  return longest;
}

Result<FamilyConfig> read_name(std::string_view name) {
  const FamilySides* const family = family_in(name);
  if (family == nullptr) {
    const std::string got = name.empty() ? "nothing" : quoted(name);
    return Status(StatusCode::parse_error, "expected a kernel's name, which begins with " +
                                               join(family_names(), "or") + ", or a config as JSON, got " +
                                               got);
  }
  Result<SettingValues> values = parse_config_name(*family->space, name);
  if (!values) return values.status();
  return FamilyConfig{family, *std::move(values)};
}

// ---- JSON

/// A text that fails at a place in it.
struct Source {
  std::string_view text;

  Status failure(std::string_view what, std::size_t offset) const {
    return error_in_line(StatusCode::parse_error, what, text, offset);
  }
  Status expected(std::string_view key, std::string_view what, const JsonScalar& got) const {
    return failure(quoted(key) + ": expected " + std::string(what) + ", got " + std::string(noun_of(got)),
                   got.offset);
  }
};

Status read_number(const Source& source, std::string_view key, const JsonScalar& json, int& number) {
  if (json.kind != JsonKind::integer) return source.expected(key, "a whole number", json);
  if (json.number < 1 || json.number > max_setting) {
    return source.failure(quoted(key) + ": expected 1 to " + std::to_string(max_setting), json.offset);
  }
  number = static_cast<int>(json.number);
  return {};
}

Status read_word(const Source& source, const Setting& setting, const JsonScalar& json, SettingValue& value) {
  if (json.kind != JsonKind::string) return source.expected(setting.key, "a string", json);
  const std::string why = read_text(setting, json.text, value);
  if (why.empty()) return {};
  return source.failure(quoted(setting.key) + ": " + why, json.offset);
}

Status read_numbers(const Source& source, const Setting& setting, const JsonValue& json,
                    SettingValue& value) {
  const std::size_t count = width(setting.kind);
  const std::string wanted = "a list of " + std::to_string(count) + " numbers";
  if (json.kind != JsonKind::list) return source.expected(setting.key, wanted, json);
  if (json.elements.size() != count) {
    return source.failure(
        quoted(setting.key) + ": expected " + wanted + ", got " + std::to_string(json.elements.size()),
        json.offset);
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (Status s = read_number(source, setting.key, json.elements[i], value[i]); !s) return s;
  }
  return {};
}

Status read_value(const Source& source, const Setting& setting, const JsonValue& json, SettingValue& value) {
  if (is_text(setting.kind)) return read_word(source, setting, json, value);
  if (setting.kind == SettingKind::integer) return read_number(source, setting.key, json, value[0]);
  return read_numbers(source, setting, json, value);
}

using Members = std::vector<JsonMember>;

Members::const_iterator find_member(const Members& members, std::string_view key) {
  return std::find_if(members.begin(), members.end(), [&](const JsonMember& m) { return m.key == key; });
}

Result<const FamilySides*> family_of(const Source& source, const Members& members) {
  const std::vector<std::string_view> names = family_names();
  const auto member = find_member(members, "family");
  if (member == members.end()) {
    return source.failure("key `family` is missing: " + join(names, "or"), source.text.find('{'));
  }
  if (member->value.kind != JsonKind::string) return source.expected("family", "a string", member->value);
  const auto found = std::find(names.begin(), names.end(), member->value.text);
  if (found != names.end()) return &families()[static_cast<std::size_t>(found - names.begin())];
  return source.failure("`family`: " + unknown_word("family", member->value.text, names),
                        member->value.offset);
}

/// Each key must be one of the family's settings, and each setting must be there that is not one to leave
/// out.
Status check_keys(const Source& source, const Members& members, const ConfigSpace& space) {
  std::vector<std::string_view> known = {"family"};
  for (const Setting& setting : space.settings) known.push_back(setting.key);
  for (const JsonMember& member : members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    return source.failure("unknown key " + quoted(member.key) + did_you_mean(member.key, known) +
                              "; the keys of " + quoted(space.family) + " are " + join(known, "and"),
                          member.offset);
  }
  std::vector<std::string_view> missing;
  for (const Setting& setting : space.settings) {
    if (!setting.unsaid && find_member(members, setting.key) == members.end()) missing.push_back(setting.key);
  }
  if (missing.empty()) return {};
  const std::string what = missing.size() == 1 ? "key " + quoted(missing[0]) + " is missing"
                                               : "keys " + join(missing, "and") + " are missing";
  return source.failure(what, source.text.find('{'));
}

Result<FamilyConfig> read_json(std::string_view text) {
  const Result<Members> members = read_flat_json(text);
  if (!members) return members.status();
  const Source source = {text};
  const Result<const FamilySides*> family = family_of(source, *members);
  if (!family) return family.status();
  const ConfigSpace& space = *(*family)->space;
  if (Status s = check_keys(source, *members, space); !s) return s;
  FamilyConfig config = {*family, unsaid_values(space)};
  for (std::size_t i = 0; i < space.settings.size(); ++i) {
    const Setting& setting = space.settings[i];
    const auto member = find_member(*members, setting.key);
    if (member == members->end()) continue;  // left out, as it may be
    if (Status s = read_value(source, setting, member->value, config.values[i]); !s) return s;
  }
  return config;
}

}  // namespace

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n\r");
  return first != std::string_view::npos && text[first] == '{';
}

Result<FamilyConfig> read_config(std::string_view text) {
  return is_json(text) ? read_json(text) : read_name(text);
}

}  // namespace quarry::detail
