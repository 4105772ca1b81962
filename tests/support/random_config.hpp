/// Random configs of kernel families, as names and as JSON.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "config_text.hpp"
#include "quarry/tensor.hpp"
#include "registry/query/families.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

/// A number that such a setting often has, or one that it hardly can have.
inline int random_number(Random& random, std::string_view key) {
  constexpr int powers[] = {1, 2, 4, 8};
  if (random() % 64 == 0) return between(random, 1, max_setting);
  if (key == "tile") return between(random, 1, 12) * (coin(random) ? 16 : 4);
  if (key == "alignment") return one_of(random, powers);
  return between(random, 1, 5);
}

inline SettingValue random_value(Random& random, const Setting& setting) {
  constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64,
                             DType::s8,  DType::u8,   DType::s32};
  SettingValue value = {};
  for (std::size_t i = 0; i < width(setting.kind); ++i) {
    switch (setting.kind) {
      case SettingKind::dtype: value[i] = static_cast<int>(one_of(random, types)); break;
      case SettingKind::layouts:
        value[i] = static_cast<int>(random() % 8 == 0 ? random() % layout_count : random() % 2);
        break;
      case SettingKind::word: value[i] = static_cast<int>(random() % setting.words.size()); break;
      default: value[i] = random_number(random, setting.key);
    }
  }
  return value;
}

/// Values of all settings; most are no config of the family.
inline SettingValues random_values(Random& random, const ConfigSpace& space) {
  SettingValues values;
  for (const Setting& setting : space.settings) values.push_back(random_value(random, setting));
  return values;
}

/// Values of a registered kernel except for a few settings; many are a config of the family.
inline SettingValues values_near_registered(Random& random, const ConfigSpace& space) {
  const auto rows = detail::rows();
  const KernelMetadata* kernel = nullptr;
  while (kernel == nullptr || kernel->family != space.family) kernel = &rows[random() % rows.size()].metadata;
  SettingValues values = *parse_config_name(space, kernel->name);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (random() % 4 == 0) values[i] = random_value(random, space.settings[i]);
  }
  return values;
}

/// Values that the family can do. Few configs can have random values where there are many settings.
inline SettingValues random_config(Random& random, const ConfigSpace& space) {
  for (;;) {
    const SettingValues values =
        coin(random) ? random_values(random, space) : values_near_registered(random, space);
    if (kernel_fault(space, values).empty()) return values;
  }
}

/// Whether a family's kernels are GEMMs. Of others there are few, and all are registered.
inline bool multiplies(const ConfigSpace& space) {
  return std::ranges::any_of(detail::rows(), [&](const detail::Row& row) {
    return row.metadata.family == space.family && row.metadata.operation == Operation::gemm;
  });
}

/// Any family of GEMMs.
inline const ConfigSpace& any_space(Random& random) {
  static const std::vector<const ConfigSpace*> all = [] {
    std::vector<const ConfigSpace*> gemms;
    for (const ConfigSpace* space : config_spaces()) {
      if (multiplies(*space)) gemms.push_back(space);
    }
    return gemms;
  }();
  return *all[random() % all.size()];
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
    case SettingKind::word: return '"' + std::string(setting.words[static_cast<std::size_t>(value[0])]) + '"';
    case SettingKind::integer: return std::to_string(value[0]);
    default: break;
  }
  std::string text = "[";
  for (std::size_t i = 0; i < width(setting.kind); ++i)
    text += (i > 0 ? ", " : "") + std::to_string(value[i]);
  return text + "]";
}

/// A config as JSON, its keys in any order; those with their usual words are there or not.
inline std::string json_of(Random& random, const ConfigSpace& space, const SettingValues& values) {
  std::vector<std::string> members = {"\"family\": \"" + std::string(space.family) + "\""};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (space.settings[i].unsaid == values[i][0] && coin(random)) continue;
    members.push_back('"' + std::string(space.settings[i].key) +
                      "\": " + json_value(space.settings[i], values[i]));
  }
  std::shuffle(members.begin(), members.end(), random);
  std::string text = "{";
  for (std::size_t i = 0; i < members.size(); ++i) text += (i > 0 ? ", " : "") + members[i];
  return text + "}";
}

}  // namespace quarry::test
