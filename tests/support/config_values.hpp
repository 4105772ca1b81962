/// Values of settings as the parts of configs, spelled out beside what derives from the families' lists. The
/// list of every family of GEMMs starts with a, b, accumulator, out and layouts.
#pragma once

#include "config_text.hpp"

namespace quarry::test {

inline Types types_of(const SettingValues& values) {
  const auto type = [&](std::size_t i) { return static_cast<DType>(values[i][0]); };
  return {type(0), type(1), type(2), type(3)};
}

inline Layouts layouts_of(const SettingValues& values) {
  const auto layout = [&](std::size_t i) { return static_cast<Layout>(values[4][i]); };
  return {layout(0), layout(1), layout(2)};
}

/// And back: the first five values of a config.
inline SettingValues values_of(const Types& types, const Layouts& layouts) {
  SettingValues values;
  for (const DType type : {types.a, types.b, types.accumulator, types.out})
    values.push_back({static_cast<int>(type)});
  values.push_back({static_cast<int>(layouts.a), static_cast<int>(layouts.b), static_cast<int>(layouts.out)});
  return values;
}

}  // namespace quarry::test
