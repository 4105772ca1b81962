/// The settings of a family's configs, each named once: a list of settings by member pointer, from which a
/// family's text side (ConfigSpace) derives. Host only.
///
///     constexpr auto settings = gemm_settings<Config>({
///         setting<&Config::warps>("warps", "w"),
///         setting<&Config::stages>("stages", "s"),
///         word_setting<&Config::math>("math", Math::exact),
///     });
///     constinit const ConfigSpace space = config_space<settings, fault, unit_group>("gemm_sm80");
///
/// The list has the order of names. Initialisers go by the order of the config's members.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>

#include "config_text.hpp"
#include "setting_parts.hpp"

namespace quarry {
namespace detail {

/// Class and type of a member pointer.
template <class Class_, class Part_>
struct MemberOf {
  using Class = Class_;
  using Part = Part_;
};
template <class Class, class Part>
MemberOf<Class, Part> member_of(Part Class::*);
template <auto member>
using Member = decltype(member_of(member));

/// A config whose members' addresses say in which order they stand.
template <class Config>
inline constexpr Config example = {};

}  // namespace detail

// ---- Settings of a family's own type of configs

/// One setting, and where it stands in a config.
template <class Config_>
struct ConfigSetting {
  using Config = Config_;
  Setting text;
  SettingValue (*get)(const Config&);
  void (*set)(Config&, const SettingValue&);
  /// Its part of an initialiser.
  std::string (*literal)(const Config&);
  /// The config's member that it is or that it is a part of, and what it is itself, in detail::example.
  const void* member;
  const void* place;
  /// How many settings make that member together, and how many members this setting is by itself.
  std::size_t parts = 1;
  std::size_t members = 1;
};

/// A member of a config, or a member of a member: setting<&Config::types, &Types::a>("a"). Its kind follows
/// from its type; `prefix` stands before its numbers in a name.
/// @param unsaid of a number: what it is where it is not mentioned (Setting::unsaid)
template <auto member>
constexpr auto setting(std::string_view key, std::string_view prefix = "",
                       std::optional<int> unsaid = std::nullopt) {
  using Config = typename detail::Member<member>::Class;
  using Part = typename detail::Member<member>::Part;
  const void* const place = &(detail::example<Config>.*member);
  return ConfigSetting<Config>{
      .text = {key, detail::kind_of<Part>(), prefix, {}, unsaid},
      .get = [](const Config& c) { return detail::value_of_part(c.*member); },
      .set = [](Config& c, const SettingValue& v) { detail::set_part(c.*member, v); },
      .literal = [](const Config& c) { return detail::part_literal(c.*member); },
      .member = place,
      .place = place};
}
template <auto member, auto inner>
constexpr auto setting(std::string_view key, std::string_view prefix = "") {
  using Config = typename detail::Member<member>::Class;
  using Part = typename detail::Member<inner>::Part;
  return ConfigSetting<Config>{
      .text = {key, detail::kind_of<Part>(), prefix},
      .get = [](const Config& c) { return detail::value_of_part(c.*member.*inner); },
      .set = [](Config& c, const SettingValue& v) { detail::set_part(c.*member.*inner, v); },
      .literal = [](const Config& c) { return detail::part_literal(c.*member.*inner); },
      .member = &(detail::example<Config>.*member),
      .place = &(detail::example<Config>.*member.*inner),
      .parts = detail::member_count<typename detail::Member<member>::Part>()};
}

/// Two members of a config, one behind the other, that are numbers: one setting, [8, 8].
template <auto first, auto second>
constexpr auto pair_setting(std::string_view key, std::string_view prefix = "") {
  using Config = typename detail::Member<first>::Class;
  const void* const place = &(detail::example<Config>.*first);
  return ConfigSetting<Config>{
      .text = {key, SettingKind::pair, prefix},
      .get = [](const Config& c) -> SettingValue {
        return {c.*first, c.*second};
      },
      .set = [](Config& c, const SettingValue& v) { c.*first = v[0], c.*second = v[1]; },
      .literal = [](const Config& c) { return std::to_string(c.*first) + ", " + std::to_string(c.*second); },
      .member = place,
      .place = place,
      .members = 2};
}

namespace detail {

/// The enumerators that a setting takes, in the order of its words.
template <class Enum, Enum... enumerators>
struct Choices {
  static constexpr std::array<Enum, sizeof...(enumerators)> values = {enumerators...};
  static constexpr std::array<std::string_view, sizeof...(enumerators)> words = {
      enum_text(enumerators).enumerators[static_cast<std::size_t>(enumerators)]...};
  static constexpr int number_of(Enum value) {
    return static_cast<int>(std::ranges::find(values, value) - values.begin());
  }
  static constexpr Enum value_of(int number) { return values[static_cast<std::size_t>(number)]; }
};
/// All of them.
template <class Enum>
struct Choices<Enum> {
  static constexpr std::span<const std::string_view> words = enum_text(Enum{}).enumerators;
  static constexpr int number_of(Enum value) { return static_cast<int>(value); }
  static constexpr Enum value_of(int number) { return static_cast<Enum>(number); }
};

}  // namespace detail

/// A member of a config that is an enumerator: one of the family's `choices`, without them any.
/// @param unsaid what it is where it is not mentioned (Setting::unsaid); without it, it must be said
/// @param words of the choices, where they are not the enumerators' own
template <auto member, auto... choices>
constexpr auto word_setting(std::string_view key,
                            std::optional<typename detail::Member<member>::Part> unsaid = std::nullopt,
                            std::span<const std::string_view> words =
                                detail::Choices<typename detail::Member<member>::Part, choices...>::words) {
  using Config = typename detail::Member<member>::Class;
  using Chosen = detail::Choices<typename detail::Member<member>::Part, choices...>;
  std::optional<int> unsaid_number;
  if (unsaid) unsaid_number = Chosen::number_of(*unsaid);
  const void* const place = &(detail::example<Config>.*member);
  return ConfigSetting<Config>{
      .text = {key, SettingKind::word, "", words, unsaid_number},
      .get = [](const Config& c) -> SettingValue { return {Chosen::number_of(c.*member)}; },
      .set = [](Config& c, const SettingValue& v) { c.*member = Chosen::value_of(v[0]); },
      .literal = [](const Config& c) { return detail::scalar_literal(c.*member); },
      .member = place,
      .place = place};
}

// ---- Lists of settings

namespace detail {

/// What of two settings of one list is too much.
template <class Config>
constexpr std::string_view pair_fault(const ConfigSetting<Config>& one, const ConfigSetting<Config>& other) {
  if (one.text.key == other.text.key) return "two settings have one key";
  return one.place == other.place ? "two settings are one member" : "";
}

/// How many settings of a list are a member of the config, or a part of it.
template <class Config>
constexpr std::size_t parts_of(std::span<const ConfigSetting<Config>> list, const void* member) {
  std::size_t parts = 0;
  for (const ConfigSetting<Config>& each : list) parts += each.member == member ? 1 : 0;
  return parts;
}

}  // namespace detail

/// What is wrong with a list, "" where nothing is.
template <class Config>
constexpr std::string_view list_fault(std::span<const ConfigSetting<Config>> list) {
  std::size_t members = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Setting& text = list[i].text;
    if (text.key.empty() || text.key == "family") return "a setting has a key of its own";
    for (std::size_t j = 0; j < i; ++j) {
      if (const std::string_view fault = detail::pair_fault(list[j], list[i]); !fault.empty()) return fault;
    }
    if (text.unsaid && list[i].get(Config{})[0] != *text.unsaid)
      return "what is unsaid is not what the member is by itself";
    if (detail::parts_of(list.first(i), list[i].member) == 0) members += list[i].members;
  }
  for (const ConfigSetting<Config>& each : list) {
    if (detail::parts_of(list, each.member) != each.parts) return "a member is not named as a whole";
  }
  return members == detail::member_count<Config>() ? "" : "a member of the config has no setting";
}

namespace detail {

/// The list itself; no constant where it has a fault.
template <class Config, std::size_t count>
constexpr std::array<ConfigSetting<Config>, count> checked(
    const std::array<ConfigSetting<Config>, count>& list) {
  if (const std::string_view fault = list_fault<Config>(list); !fault.empty()) throw fault;
  return list;
}

}  // namespace detail

/// The list of all settings of a config, in the order of names. Does not compile where list_fault finds a
/// fault.
template <class Config, std::size_t count>
consteval std::array<ConfigSetting<Config>, count> settings_of(const ConfigSetting<Config> (&list)[count]) {
  return detail::checked(std::to_array(list));
}

namespace detail {

/// A family's own settings behind those that its operation's families have in common.
template <class Config, std::size_t first, std::size_t count>
consteval auto with_own(const std::array<ConfigSetting<Config>, first>& common,
                        const ConfigSetting<Config> (&own)[count]) {
  std::array<ConfigSetting<Config>, first + count> list = {};
  std::ranges::copy(own, std::ranges::copy(common, list.begin()).out);
  return checked(list);
}

}  // namespace detail

/// The same of a family of convolutions: direction, types and tile come first, alike in all.
template <class Config, std::size_t count>
consteval auto convolution_settings(const ConfigSetting<Config> (&own)[count]) {
  const std::array common = {word_setting<&Config::direction>("direction"),
                             setting<&Config::types, &Types::a>("a"),
                             setting<&Config::types, &Types::b>("b"),
                             setting<&Config::types, &Types::accumulator>("accumulator"),
                             setting<&Config::types, &Types::out>("out"),
                             setting<&Config::tile>("tile")};
  return detail::with_own<Config>(common, own);
}

/// The same of a family of GEMMs: types, layouts and tile of the output come first, alike in all.
template <class Config, std::size_t count>
consteval auto gemm_settings(const ConfigSetting<Config> (&own)[count]) {
  const std::array common = {setting<&Config::types, &Types::a>("a"),
                             setting<&Config::types, &Types::b>("b"),
                             setting<&Config::types, &Types::accumulator>("accumulator"),
                             setting<&Config::types, &Types::out>("out"),
                             setting<&Config::layouts>("layouts"),
                             setting<&Config::tile>("tile")};
  return detail::with_own<Config>(common, own);
}

/// The config of the values of a list's settings.
template <class Config, std::size_t count>
constexpr Config config_of(const std::array<ConfigSetting<Config>, count>& list,
                           const SettingValues& values) {
  Config config = {};
  for (std::size_t i = 0; i < count; ++i) list[i].set(config, values[i]);
  return config;
}

/// And back.
template <class Config, std::size_t count>
SettingValues values_of(const std::array<ConfigSetting<Config>, count>& list, const Config& config) {
  SettingValues values;
  for (const ConfigSetting<Config>& each : list) values.push_back(each.get(config));
  return values;
}

/// One setting's part of an initialiser.
struct LiteralPart {
  const void* member;  ///< as in ConfigSetting
  const void* place;
  bool whole;   ///< the member as a whole
  bool unsaid;  ///< what the member is where it is left out
  std::string text;
};

/// The initialiser of these parts, in the order of their members. Members at the end that may be left out
/// are.
std::string literal_of(std::vector<LiteralPart> parts);

/// A config as a C++ initialiser.
template <class Config, std::size_t count>
std::string literal_of(const std::array<ConfigSetting<Config>, count>& list, const Config& config) {
  std::vector<LiteralPart> parts;
  for (const ConfigSetting<Config>& each : list) {
    const bool unsaid = each.text.unsaid && *each.text.unsaid == each.get(config)[0];
    parts.push_back({each.member, each.place, each.parts == 1, unsaid, each.literal(config)});
  }
  return literal_of(std::move(parts));
}

namespace detail {

/// The settings of a list without their members.
template <const auto& list>
inline constexpr auto setting_texts = [] {
  std::array<Setting, list.size()> texts;
  for (std::size_t i = 0; i < list.size(); ++i) texts[i] = list[i].text;
  return texts;
}();

}  // namespace detail

/// The text side of a family, whose namespace has `entry` and `describe` of its configs.
/// @tparam list its settings
/// @tparam fault why there can be no such config, "" where there can
/// @tparam unit_group see ConfigSpace
/// @tparam mirrored see ConfigSpace; nullptr where a family has none
template <const auto& list, auto fault, auto unit_group, auto mirrored = nullptr>
constexpr ConfigSpace config_space(std::string_view family, std::string_view params = gemm_params,
                                   EntryProblem entry_problem = EntryProblem::transposed,
                                   std::string_view scaled_params = scaled_gemm_params) {
  using Config = typename std::remove_cvref_t<decltype(list[0])>::Config;
  ConfigSpace space = {
      .family = family,
      .settings = detail::setting_texts<list>,
      .fault = [](const SettingValues& v) -> std::string { return fault(config_of(list, v)); },
      .entry = [](const SettingValues& v) { return values_of(list, Config(entry(config_of(list, v)))); },
      .describe = [](const SettingValues& v,
                     std::string_view name) { return describe(config_of(list, v), name); },
      .literal = [](const SettingValues& v) { return literal_of(list, config_of(list, v)); },
      .unit_group = [](const SettingValues& v) -> std::string { return unit_group(config_of(list, v)); },
      .kept = [](const SettingValues& v) -> const void* { return new Config(config_of(list, v)); },
      .values = [](const void* config) { return values_of(list, *static_cast<const Config*>(config)); },
      .params = params,
      .scaled_params = scaled_params,
      .entry_problem = entry_problem};
  if constexpr (!std::is_null_pointer_v<decltype(mirrored)>) {
    space.mirrored = [](const SettingValues& v) {
      return values_of(list, Config(mirrored(config_of(list, v))));
    };
  }
  return space;
}

}  // namespace quarry
