#include "registry/compile/artifact_format.hpp"

#include <cstring>

#include "basic/text.hpp"
#include "quarry/version.hpp"
#include "registry/compile/byte_stream.hpp"
#include "registry/compile/sources.hpp"

namespace quarry::detail {
namespace {

constexpr char magic[8] = {'Q', 'U', 'A', 'R', 'R', 'Y', 'A', '1'};
constexpr std::uint32_t format_version = 1;
constexpr std::size_t size_offset = 16;
constexpr std::size_t checksum_offset = 24;
constexpr std::size_t head_bytes = 32;

Status invalid(std::string why) { return {StatusCode::invalid_artifact, std::move(why)}; }

/// The checksum of all bytes but its own eight.
std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return checksum(bytes.subspan(head_bytes), checksum(bytes.first(checksum_offset)));
}

}  // namespace

std::uint64_t checksum(std::span<const std::byte> bytes, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  return hash;
}

std::string artifact_key(std::string_view entry, std::string_view config, int target,
                         std::string_view compiler) {
  std::string key = "quarry " QUARRY_VERSION "\nsources ";
  key += sources_digest(entry);
  key += "\nentry ";
  key += entry;
  key += "\nconfig ";
  key += config;
  key += "\ntarget " + std::to_string(target) + "\ncompiler ";
  key += compiler;
  return key;
}

std::vector<std::byte> to_bytes(const ArtifactData& artifact) {
  ByteWriter writer;
  writer.raw(magic, sizeof magic);
  writer.number(format_version);
  writer.number(static_cast<std::uint32_t>(artifact.target));
  writer.number(std::uint64_t{0});
  writer.number(std::uint64_t{0});
  writer.text(QUARRY_VERSION);
  for (const std::string* text : {&artifact.entry, &artifact.config, &artifact.compiler, &artifact.key})
    writer.text(*text);
  for (const int value :
       {artifact.resources.registers, artifact.resources.spill_bytes, artifact.resources.shared_memory})
    writer.number(static_cast<std::uint32_t>(value));
  writer.number(std::uint64_t{artifact.resources.code_bytes});
  writer.number(std::uint64_t{artifact.code.size()});
  writer.raw(artifact.code.data(), artifact.code.size());
  writer.patch(size_offset, writer.bytes().size());
  writer.patch(checksum_offset, checksum_of(writer.bytes()));
  return writer.take();
}

Result<std::shared_ptr<ArtifactData>> from_bytes(std::span<const std::byte> bytes) {
  if (bytes.size() < head_bytes) {
    return invalid("The artifact is cut short: " + std::to_string(bytes.size()) + " bytes");
  }
  if (std::memcmp(bytes.data(), magic, sizeof magic) != 0)
    return invalid("This is not an artifact of Quarry");
  ByteReader reader(bytes.subspan(sizeof magic));
  const auto version = reader.number<std::uint32_t>();
  const auto target = reader.number<std::uint32_t>();
  const auto size = reader.number<std::uint64_t>();
  const auto expected = reader.number<std::uint64_t>();
  if (version != format_version) {
    return invalid("The artifact's format is version " + std::to_string(version) + ", this library reads " +
                   std::to_string(format_version));
  }
  if (size != bytes.size()) {
    return invalid("The artifact has " + std::to_string(bytes.size()) + " bytes and should have " +
                   std::to_string(size));
  }
  if (checksum_of(bytes) != expected) return invalid("The artifact is damaged: its checksum is wrong");
  const std::string library = reader.text();
  if (library != QUARRY_VERSION) {
    return invalid("The artifact is of Quarry " + quoted(library) + ", this is " QUARRY_VERSION);
  }
  auto artifact = std::make_shared<ArtifactData>();
  for (std::string* text : {&artifact->entry, &artifact->config, &artifact->compiler, &artifact->key})
    *text = reader.text();
  artifact->target = static_cast<int>(target);
  for (int* value :
       {&artifact->resources.registers, &artifact->resources.spill_bytes, &artifact->resources.shared_memory})
    *value = static_cast<int>(reader.number<std::uint32_t>());
  artifact->resources.code_bytes = static_cast<std::size_t>(reader.number<std::uint64_t>());
  const auto code = reader.take(reader.number<std::uint64_t>());
  if (!reader.complete() || code.empty()) return invalid("The artifact is damaged: its parts do not fit");
  artifact->owned.assign(code.begin(), code.end());
  artifact->code = artifact->owned;
  return artifact;
}

}  // namespace quarry::detail
