/// Artifacts whose code is no code, of kernels that nobody has compiled: for the formats that carry them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config_text.hpp"
#include "operations/common/row.hpp"
#include "quarry/quarry.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/sources.hpp"
#include "registry/device/library.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

/// Names of entries that are not registered, and so neither precompiled nor compiled before: names of
/// registered kernels with another number in one place.
inline std::vector<std::string> unregistered_names() {
  std::vector<std::string> names;
  for (const detail::Entry& entry : detail::entries()) {
    for (const ConfigSpace* space : config_spaces()) {
      const Result<SettingValues> values = parse_config_name(*space, entry.name);
      if (!values) continue;
      for (std::size_t setting = 5; setting < values->size(); ++setting) {
        if (space->settings[setting].kind == SettingKind::word) continue;  // a word's number has no double
        SettingValues other = *values;
        other[setting][width(space->settings[setting].kind) - 1] *= 2;
        if (!space->fault(other).empty() || space->entry(other) != other) continue;
        const std::string name = config_name(*space, other);
        if (!detail::find_entry(name)) names.push_back(name);
      }
    }
  }
  return names;
}

/// One of them that was not handed out before.
inline std::string fresh_name() {
  static const std::vector<std::string> names = unregistered_names();
  static std::size_t next = 0;
  while (next < names.size() && detail::find_entry(names[next])) ++next;
  REQUIRE(next < names.size());
  return names[next++];
}

/// An artifact of the entry for the default device that this library cannot tell from one that it compiled.
inline std::shared_ptr<detail::ArtifactData> fake_data(const std::string& entry, std::size_t bytes = 50) {
  auto data = std::make_shared<detail::ArtifactData>();
  data->entry = entry;
  const Result<detail::EntrySource> source = detail::entry_source(entry);
  REQUIRE(source);
  data->config = source->config;
  data->compiler = "fake 1.0";
  data->target = default_device_model().cc;
  data->key = detail::artifact_key(entry, data->config, data->target, data->compiler);
  data->resources = {.registers = 100, .spill_bytes = 4, .shared_memory = 1000, .code_bytes = bytes};
  for (std::size_t i = 0; i < bytes; ++i)
    data->owned.push_back(static_cast<std::byte>(i * 37 + entry.size()));
  data->code = data->owned;
  return data;
}

inline Artifact fake_artifact(const std::string& entry, std::size_t bytes = 50) {
  return Artifact(fake_data(entry, bytes));
}

}  // namespace quarry::test
