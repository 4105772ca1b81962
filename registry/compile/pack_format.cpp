#include "registry/compile/pack_format.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "basic/text.hpp"
#include "quarry/version.hpp"
#include "registry/compile/byte_stream.hpp"

namespace quarry::detail {
namespace {

constexpr char magic[8] = {'Q', 'U', 'A', 'R', 'R', 'Y', 'P', '1'};
constexpr std::uint32_t format_version = 1;
constexpr std::size_t size_offset = 16;
constexpr std::size_t checksum_offset = 24;

using Artifacts = std::vector<std::shared_ptr<const ArtifactData>>;

Status invalid(std::string why) { return {StatusCode::invalid_artifact, std::move(why)}; }

std::uint64_t checksum_of(std::span<const std::byte> head_and_table) {
  return checksum(head_and_table.subspan(pack_head_bytes), checksum(head_and_table.first(checksum_offset)));
}

/// What stands in front of the artifacts.
struct Contents {
  std::string library;
  std::span<const std::byte> table;
  std::span<const std::byte> artifacts;
};

Result<Contents> contents(std::span<const std::byte> bytes) {
  ByteReader reader(bytes.subspan(sizeof magic));
  (void)reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint32_t>();
  (void)reader.number<std::uint64_t>();
  const auto expected = reader.number<std::uint64_t>();
  Contents found;
  found.library = reader.text();
  found.table = reader.take(std::uint64_t{8} * count);
  found.artifacts = reader.left();
  const bool whole = !reader.failed();
  if (!whole || checksum_of(bytes.first(bytes.size() - found.artifacts.size())) != expected) {
    return invalid("The pack is damaged: the checksum of its table of contents is wrong");
  }
  if (count == 0) return invalid("The pack is empty");
  return found;
}

}  // namespace

Status check_pack_head(std::span<const std::byte> head, std::size_t size) {
  const std::size_t compared = std::min(head.size(), sizeof magic);
  if (compared == 0 || std::memcmp(head.data(), magic, compared) != 0)
    return invalid("This is no pack of Quarry");
  if (head.size() < pack_head_bytes)
    return invalid("The pack is cut short: it has " + std::to_string(size) + " bytes");
  ByteReader reader(head.subspan(sizeof magic));
  const auto version = reader.number<std::uint32_t>();
  (void)reader.number<std::uint32_t>();
  const auto expected = reader.number<std::uint64_t>();
  if (version != format_version) {
    return invalid("The pack's format is version " + std::to_string(version) + ", this library reads " +
                   std::to_string(format_version));
  }
  if (size == expected) return {};
  return invalid(std::string("The pack is ") + (size < expected ? "cut short" : "damaged") + ": it has " +
                 std::to_string(size) + " bytes and should have " + std::to_string(expected));
}

std::vector<std::byte> pack_to_bytes(std::span<const std::shared_ptr<const ArtifactData>> artifacts) {
  std::vector<std::vector<std::byte>> parts;
  parts.reserve(artifacts.size());
  for (const auto& artifact : artifacts) parts.push_back(to_bytes(*artifact));
  ByteWriter writer;
  writer.raw(magic, sizeof magic);
  writer.number(format_version);
  writer.number(static_cast<std::uint32_t>(artifacts.size()));
  writer.number(std::uint64_t{0});
  writer.number(std::uint64_t{0});
  writer.text(QUARRY_VERSION);
  std::uint64_t size = writer.bytes().size() + 8 * parts.size();
  for (const auto& part : parts) {
    writer.number(std::uint64_t{part.size()});
    size += part.size();
  }
  writer.patch(size_offset, size);
  writer.patch(checksum_offset, checksum_of(writer.bytes()));
  for (auto& part : parts) {
    writer.raw(part.data(), part.size());
    part = {};  // so that not everything is there twice
  }
  return writer.take();
}

Result<Artifacts> pack_from_bytes(std::span<const std::byte> bytes) {
  if (Status s = check_pack_head(bytes.first(std::min(bytes.size(), pack_head_bytes)), bytes.size()); !s)
    return s;
  const Result<Contents> found = contents(bytes);
  if (!found) return found.status();
  if (found->library != QUARRY_VERSION)
    return invalid("The pack is of Quarry " + quoted(found->library) + ", this is " QUARRY_VERSION);

  Artifacts artifacts;
  ByteReader sizes(found->table);
  ByteReader parts(found->artifacts);
  while (!sizes.complete()) {
    const auto part = parts.take(sizes.number<std::uint64_t>());
    if (parts.failed()) return invalid("The pack is damaged: its parts do not fit");
    Result<std::shared_ptr<ArtifactData>> artifact = from_bytes(part);
    if (!artifact) {
      return invalid("Artifact " + std::to_string(artifacts.size() + 1) +
                     " of the pack is invalid: " + artifact.status().message());
    }
    (*artifact)->origin = ArtifactOrigin::loaded;
    artifacts.push_back(*std::move(artifact));
  }
  if (!parts.complete()) return invalid("The pack is damaged: its parts do not fit");
  return artifacts;
}

}  // namespace quarry::detail
