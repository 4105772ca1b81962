/// Artifacts as bytes: what serialize, the cache on disk and packs have in common.
///
///   offset  bytes
///        0      8  magic, "QUARRYA1"
///        8      4  format version        12   4  target
///       16      8  bytes of all         24   8  checksum of all bytes but these eight
///       32      .  library version, entry, config, compiler, key (each: 4 bytes of length, then text),
///       resources, code
///
/// Numbers are little-endian. Every length is checked against what is there before it is used.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "quarry/artifact.hpp"

namespace quarry::detail {

/// What an Artifact holds.
struct ArtifactData {
  std::string entry;
  std::string config;
  /// Identity of the compiler; "" for precompiled code.
  std::string compiler;
  /// What the code was made from and how, all in one text (see artifact_key); "" for precompiled code.
  std::string key;
  int target = 0;
  ArtifactOrigin origin = ArtifactOrigin::compiled;
  CodeResources resources;
  /// The code: in `owned`, or in the library.
  std::vector<std::byte> owned;
  std::span<const std::byte> code;
};

/// Everything that the machine code depends on: library version, sources, config, target, compiler, options.
std::string artifact_key(std::string_view entry, std::string_view config, int target,
                         std::string_view compiler);

std::vector<std::byte> to_bytes(const ArtifactData& artifact);
/// Fails with invalid_artifact. `origin` is left to the caller.
Result<std::shared_ptr<ArtifactData>> from_bytes(std::span<const std::byte> bytes);

/// 64-bit FNV-1a; a change of one byte always changes it.
std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed = 14695981039346656037U);

}  // namespace quarry::detail
