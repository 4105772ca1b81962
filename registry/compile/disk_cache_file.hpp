/// One file of the cache on disk: written whole or not at all, believed only after it was checked.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "registry/compile/artifact_format.hpp"
#include "registry/compile/disk_cache_folder.hpp"

namespace quarry::detail {

/// An entry as it was found.
struct FoundEntry {
  /// Open as long as this lives; invalid where nothing can be read.
  Descriptor file;
  /// Why it cannot be opened (ENOENT: there is none), or 0.
  int error = 0;
  /// Why it is bad: damaged, cut short, no artifact, no file, or one that another user owns or may write.
  Status status;
  /// Null where it cannot be opened or is bad.
  std::shared_ptr<ArtifactData> artifact;
};

/// Reads and checks the entry of this name: its bytes, and that its key is the one that the name stands for.
FoundEntry read_entry(const Descriptor& folder, const std::string& name);

/// Marks an entry as used now.
void mark_used(const Descriptor& file);

/// Renames an entry that is bad, unless another process has put another file in its place by now. Of those
/// set aside, the latest few are kept.
void set_aside(const Descriptor& folder, const std::string& name, const Descriptor& file);

/// Writes an entry: under a temporary name, synced, renamed, the folder synced. The write of one whose
/// temporary file was removed meanwhile, by one who cleared the cache, counts as done.
/// @return 0, or errno; then nothing is left. ENOENT: the folder was removed
int write_entry(const Descriptor& folder, const std::string& name, std::span<const std::byte> bytes);

}  // namespace quarry::detail
