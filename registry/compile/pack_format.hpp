/// Packs as bytes: many artifacts in one file.
///
///   offset  bytes
///        0      8  magic, "QUARRYP1"
///        8      4  format version        12   4  artifacts in the pack
///       16      8  bytes of all          24   8  checksum of head and table but these eight
///       32      .  library version (4 bytes of length, then text)
///        .      .  table: 8 bytes for each artifact, its size
///        .      .  the artifacts, one behind another, each as artifact_format.hpp says
///
/// Numbers are little-endian. Every length is checked against what is there before it is used; every byte is
/// under a checksum, the head's or its artifact's.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "registry/compile/artifact_format.hpp"

namespace quarry::detail {

/// Bytes that a pack has at least, and that check_pack_head needs.
inline constexpr std::size_t pack_head_bytes = 32;

/// Whether a file that begins so and has `size` bytes can be a pack of this format: what is looked at before
/// all of it is read. Fails with invalid_artifact.
Status check_pack_head(std::span<const std::byte> head, std::size_t size);

std::vector<std::byte> pack_to_bytes(std::span<const std::shared_ptr<const ArtifactData>> artifacts);

/// The artifacts of a pack, their origin being `loaded`. Fails with invalid_artifact for bytes that are no
/// pack, damaged or cut short, or of another version of the library.
Result<std::vector<std::shared_ptr<const ArtifactData>>> pack_from_bytes(std::span<const std::byte> bytes);

}  // namespace quarry::detail
