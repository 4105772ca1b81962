#include "registry/compile/precompiled.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include "operations/common/row.hpp"
#include "registry/compile/sources.hpp"

namespace quarry::detail {
namespace {

std::shared_ptr<const ArtifactData> made(std::uint32_t entry, int cc, int target) {
  const Unit& unit = units()[static_cast<std::size_t>(entry_of(entry).unit)];
  auto artifact = std::make_shared<ArtifactData>();
  artifact->entry = entry_of(entry).name;
  artifact->target = cc;
  artifact->origin = ArtifactOrigin::precompiled;
  artifact->code = {reinterpret_cast<const std::byte*>(unit.begin),
                    reinterpret_cast<const std::byte*>(unit.end)};
  const Resources resources = detail::resources(entry, target);
  artifact->resources = {.registers = resources.registers, .spill_bytes = resources.spill_bytes};
  if (const Result<EntrySource> source = entry_source(artifact->entry))
    artifact->resources.shared_memory = source->shared_memory;
  return artifact;
}

}  // namespace

int precompiled_target(std::uint32_t entry, int cc) {
  if (entry_of(entry).unit < 0) return 0;
  int best = 0;
  for (const int target : precompiled_targets()) {
    if (target / 10 != cc / 10 || target > cc) continue;
    if (resources(entry, target).registers > 0) best = std::max(best, target);
  }
  return best;
}

std::shared_ptr<const ArtifactData> precompiled_artifact(std::uint32_t entry, int cc) {
  const int target = precompiled_target(entry, cc);
  if (target == 0) return nullptr;
  static std::mutex mutex;
  static auto* const kept =  // never destroyed: threads may ask while the process ends
      new std::map<std::pair<std::uint32_t, int>, std::shared_ptr<const ArtifactData>>;
  const std::lock_guard lock(mutex);
  auto& artifact = (*kept)[{entry, cc}];
  if (!artifact) artifact = made(entry, cc, target);
  return artifact;
}

}  // namespace quarry::detail
