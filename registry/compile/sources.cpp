#include "registry/compile/sources.hpp"

#include "basic/text.hpp"
#include "entry_text.hpp"

namespace quarry::detail {
namespace {

Status no_entry(std::string_view name, const std::string& why) {
  return {StatusCode::not_found, quoted(name) + " is the name of no device function: " + why};
}

Result<EntrySource> family_entry(const ConfigSpace& space, std::string_view name) {
  const Result<SettingValues> values = parse_config_name(space, name);
  if (!values) return no_entry(name, values.status().message());
  if (const std::string fault = space.fault(*values); !fault.empty()) return no_entry(name, fault);
  const SettingValues entry = space.entry(*values);
  if (entry != *values) return no_entry(name, "such a kernel runs " + quoted(config_name(space, entry)));
  const EntryText text = entry_text(space, entry);
  const int shared_memory = space.describe(entry, name).design.shared_memory;
  return EntrySource{instantiation({&text, 1}), text.config(), shared_memory, text.only_cc};
}

/// The family whose names start like this one; null where there is none.
const ConfigSpace* family_of(std::string_view name) {
  for (const ConfigSpace* space : config_spaces()) {
    if (name.starts_with(space->family) && name.substr(space->family.size()).starts_with('_')) return space;
  }
  return nullptr;
}

}  // namespace

Result<EntrySource> entry_source(std::string_view entry) {
  if (const ConfigSpace* space = family_of(entry)) return family_entry(*space, entry);
  return no_entry(entry, "no family makes such names");
}

}  // namespace quarry::detail
