#include "registry/compile/known_resources.hpp"

#include <memory>

#include "operations/common/row.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/compiler.hpp"
#include "registry/compile/disk_cache.hpp"
#include "registry/compile/sources.hpp"
#include "registry/compile/store.hpp"

namespace quarry::detail {
namespace {

std::shared_ptr<const ArtifactData> on_disk(std::uint32_t number, int target) {
  const std::string_view entry = entry_of(number).name;
  const Result<EntrySource> source = entry_source(entry);
  if (!source) return nullptr;
  const Result<const Compiler*> compiler = find_compiler(CompilerBackend::automatic);
  if (!compiler) return nullptr;
  return load_cached(artifact_key(entry, source->config, target, (*compiler)->identity()));
}

}  // namespace

std::optional<CodeResources> known_resources(std::uint32_t entry, int target) {
  std::shared_ptr<const ArtifactData> artifact = artifact_in_memory(entry, target);
  if (artifact == nullptr) artifact = on_disk(entry, target);
  if (artifact == nullptr) return {};
  return artifact->resources;
}

}  // namespace quarry::detail
