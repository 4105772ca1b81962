#include "registry/compile/standalone.hpp"

#include "registry/compile/store.hpp"

namespace quarry::detail {

Result<Artifact> standalone_artifact(std::uint32_t entry, const CompileOptions& options) {
  Result<Artifact> artifact = find_artifact(entry, options);
  if (!artifact || artifact->origin() != ArtifactOrigin::precompiled) return artifact;
  if (!options.force) {
    if (auto kept = kept_artifact(entry, artifact->target())) return Artifact(std::move(kept));
  }
  CompileOptions anew = options;
  anew.force = true;
  return find_artifact(entry, anew);
}

}  // namespace quarry::detail
