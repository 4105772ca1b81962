/// Random configs of kernel families, as names and as JSON.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "config_text.hpp"
#include "quarry/tensor.hpp"
#include "registry/query/families.hpp"
#include "unit/random_gemm.hpp"

namespace quarry::test {

/// A number that such a setting often has, or one that it hardly can have.
inline int random_number(Random& random, std::string_view key) {
  constexpr int powers[] = {1, 2, 4, 8};
  if (random() % 64 == 0) return between(random, 1, max_setting);
  if (key == "tile") return between(random, 1, 12) * (coin(random) ? 16 : 4);
  if (key == "alignment") return one_of(random, powers);
  return between(random, 1, 5);
}

/// Values of all settings; most are no config of the family.
inline SettingValues random_values(Random& random, const ConfigSpace& space) {
  constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
  SettingValues values;
  for (const Setting& setting : space.settings) {
    SettingValue value = {};
    for (std::size_t i = 0; i < width(setting.kind); ++i) {
      switch (setting.kind) {
        case SettingKind::dtype: value[i] = static_cast<int>(one_of(random, types)); break;
        case SettingKind::layouts: value[i] = static_cast<int>(random() % 2); break;
        default: value[i] = random_number(random, setting.key);
      }
    }
    values.push_back(value);
  }
  return values;
}

/// Values that the family can do.
inline SettingValues random_config(Random& random, const ConfigSpace& space) {
  for (;;) {
    const SettingValues values = random_values(random, space);
    if (space.fault(values).empty()) return values;
  }
}

inline const ConfigSpace& any_space(Random& random) {
  const auto all = detail::families();
  return *all[random() % all.size()].space;
}

/// "[128, 128, 32]", "\"rcr\"", ...
inline std::string json_value(const Setting& setting, const SettingValue& value) {
  switch (setting.kind) {
    case SettingKind::dtype: return '"' + std::string(to_string(static_cast<DType>(value[0]))) + '"';
    case SettingKind::layouts:
      return '"' +
             name_of(Layouts{static_cast<Layout>(value[0]), static_cast<Layout>(value[1]),
                             static_cast<Layout>(value[2])}) +
             '"';
    case SettingKind::integer: return std::to_string(value[0]);
    default: break;
  }
  std::string text = "[";
  for (std::size_t i = 0; i < width(setting.kind); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(value[i]);
  return text + "]";
}

/// A config as JSON, its keys in any order.
inline std::string json_of(Random& random, const ConfigSpace& space, const SettingValues& values) {
  std::vector<std::string> members = {"\"family\": \"" + std::string(space.family) + "\""};
  for (std::size_t i = 0; i < values.size(); ++i) {
    members.push_back('"' + std::string(space.settings[i].key) +
                      "\": " + json_value(space.settings[i], values[i]));
  }
  std::shuffle(members.begin(), members.end(), random);
  std::string text = "{";
  for (std::size_t i = 0; i < members.size(); ++i) text += (i > 0 ? ", " : "") + members[i];
  return text + "}";
}

}  // namespace quarry::test
