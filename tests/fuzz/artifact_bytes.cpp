#include "fuzz/artifact_bytes.hpp"

#include "operations/common/row.hpp"
#include "registry/compile/artifact_format.hpp"
#include "registry/compile/sources.hpp"

namespace quarry::fuzz {
namespace {

constexpr std::size_t size_offset = 16;
constexpr std::size_t checksum_offset = 24;
constexpr std::size_t head_bytes = 32;

void patch(std::vector<std::byte>& bytes, std::size_t offset, std::uint64_t value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes[offset + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

void repair(std::vector<std::byte>& bytes) {
  if (bytes.size() < head_bytes) return;
  patch(bytes, size_offset, bytes.size());
  const std::span<const std::byte> all = bytes;
  patch(bytes, checksum_offset,
        detail::checksum(all.subspan(head_bytes), detail::checksum(all.first(checksum_offset))));
}

/// Those up to the version of the library, which is the first text behind the head.
std::vector<std::byte> right_head() {
  std::vector<std::byte> bytes = detail::to_bytes({});
  bytes.resize(head_bytes + sizeof(std::uint32_t) + std::to_integer<std::size_t>(bytes[head_bytes]));
  return bytes;
}

/// An artifact that this library cannot tell from its own.
detail::ArtifactData own_artifact(Input& input) {
  const auto entries = detail::entries();
  detail::ArtifactData artifact;
  artifact.entry = entries[input.raw<std::uint16_t>() % entries.size()].name;
  if (const auto source = detail::entry_source(artifact.entry)) artifact.config = source->config;
  artifact.compiler = "fuzz 1.0";
  artifact.target = input.coin() ? 80 : input.coin() ? 90 : static_cast<int>(input.number());
  artifact.key = detail::artifact_key(artifact.entry, artifact.config, artifact.target, artifact.compiler);
  artifact.resources.registers = static_cast<int>(input.number());
  artifact.resources.code_bytes = static_cast<std::size_t>(input.number());
  for (const std::uint8_t byte : input.take(input.byte() % 32)) artifact.owned.push_back(std::byte{byte});
  artifact.code = artifact.owned;
  return artifact;
}

}  // namespace

std::vector<std::byte> artifact_bytes(Input& input) {
  std::vector<std::byte> bytes;
  const std::uint8_t kind = input.byte();
  if (kind % 4 >= 2) {
    bytes = detail::to_bytes(own_artifact(input));
    for (int changes = kind / 4 % 8; changes > 0; --changes) {
      const std::size_t place = input.raw<std::uint16_t>() % bytes.size();
      bytes[place] = std::byte{input.byte()};
    }
  } else {
    if (kind % 4 == 1) bytes = right_head();
    for (const std::uint8_t byte : input.rest()) bytes.push_back(std::byte{byte});
  }
  if (kind % 4 != 0) repair(bytes);
  return bytes;
}

}  // namespace quarry::fuzz
