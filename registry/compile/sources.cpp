#include "registry/compile/sources.hpp"

#include <algorithm>

#include "basic/text.hpp"
#include "entry_text.hpp"
#include "operations/common/expression/interned.hpp"
#include "registry/operation.hpp"

namespace quarry::detail {
namespace {

Status unknown_entry(std::string_view name, const std::string& why) {
  return {StatusCode::not_found, quoted(name) + " is the name of no device function: " + why};
}

Result<EntrySource> family_entry(const ConfigSpace& space, std::string_view name) {
  const Result<SettingValues> values = parse_config_name(space, name);
  if (!values) return unknown_entry(name, values.status().message());
  if (const std::string fault = space.fault(*values); !fault.empty()) return unknown_entry(name, fault);
  const SettingValues entry = space.entry(*values);
  if (entry != *values) return unknown_entry(name, "such a kernel runs " + quoted(config_name(space, entry)));
  const EntryText text = entry_text(space, entry);
  const int shared_memory = space.describe(entry, name).design.shared_memory;
  return EntrySource{instantiation({&text, 1}), text.config(), shared_memory, text.only_cc};
}

/// The entry of a family with an expression compiled in: as without, but that the kernel's second template
/// argument is the expression's code.
Result<EntrySource> expression_entry(const ConfigSpace& space, std::string_view name,
                                     const ExpressionEntryName& parts) {
  const InternedExpression* const interned = find_interned(parts.number);
  if (interned == nullptr) return unknown_entry(name, "this program has no expression of its number");
  const Result<SettingValues> values = parse_config_name(space, parts.entry);
  if (!values) return unknown_entry(name, values.status().message());
  if (const std::string fault = space.fault(*values); !fault.empty()) return unknown_entry(name, fault);
  EntryText text = entry_text(space, space.entry(*values));
  text.name = name;
  const KernelMetadata kernel = space.describe(*values, name);
  const auto code_of = info_of(kernel.operation).expression_code;
  if (code_of == nullptr) return unknown_entry(name, "kernels of its operation take no expressions");
  const std::string code_name = "code_of_" + text.name;
  const Result<std::string> code = code_of(interned->expression, code_name);
  if (!code) return code.status();
  std::string include = "#include \"" + text.folder + "/kernel.cuh\"\n";
  const std::string own = text.folder + "/expression.cuh";
  if (std::ranges::find(kernel_sources(), own, &SourceFile::name) != kernel_sources().end())
    include += "#include \"" + own + "\"\n";
  const std::string entry = "QUARRY_ENTRY(" + text.name + ", quarry::" + code_name + "::Parameters<" +
                            text.params + ">, quarry::" + text.folder + "::kernel,\n             (" +
                            text.config() + "), quarry::" + code_name + ")\n";
  const std::string config = text.config() + " " + interned->expression.text() + " with " +
                             interned->expression.declarations().text();
  return EntrySource{include + "\n" + *code + entry, config, kernel.design.shared_memory, text.only_cc};
}

/// The family whose names start like this one; null where there is none.
const ConfigSpace* family_of(std::string_view name) {
  for (const ConfigSpace* space : config_spaces()) {
    if (name.starts_with(space->family) && name.substr(space->family.size()).starts_with('_')) return space;
  }
  return nullptr;
}

}  // namespace

std::string_view sources_digest(std::string_view name) {
  const ConfigSpace* const space = family_of(name);
  if (space == nullptr) return sources_digest();
  const auto digests = family_digests();
  const auto found = std::ranges::find(digests, space->family, &FamilyDigest::family);
  return found == digests.end() ? sources_digest() : found->digest;
}

Result<EntrySource> entry_source(std::string_view entry) {
  if (const ConfigSpace* space = family_of(entry)) {
    const auto parts = parse_expression_entry(entry);
    return parts ? expression_entry(*space, entry, *parts) : family_entry(*space, entry);
  }
  return unknown_entry(entry, "no family makes such names");
}

}  // namespace quarry::detail
