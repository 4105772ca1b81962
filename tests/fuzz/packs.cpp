#include "quarry/pack.hpp"

#include "fuzz/artifact_bytes.hpp"
#include "fuzz/harness_list.hpp"
#include "fuzz/memory_file.hpp"
#include "registry/compile/byte_stream.hpp"
#include "registry/compile/pack_format.hpp"

namespace quarry::fuzz {
namespace {

constexpr std::size_t version_offset = 8;
constexpr std::size_t pack_size_offset = 16;
constexpr std::size_t pack_checksum_offset = 24;

/// A pack with a right head, of a few artifacts; sizes in its table are wrong by chance.
std::vector<std::byte> pack_bytes(Input& input) {
  detail::ByteWriter writer;
  const std::vector<std::byte> empty = detail::pack_to_bytes({});
  writer.raw(empty.data(), empty.size());
  std::vector<std::vector<std::byte>> parts(input.byte() % 5);
  std::uint64_t count = parts.size();
  if (input.byte() == 1) count = static_cast<std::uint64_t>(input.number()) & 0xffffffffU;
  for (auto& part : parts) {
    Input own(input.take(input.byte()));
    part = artifact_bytes(own);
    writer.number(std::uint64_t{part.size()} +
                  (input.byte() == 1 ? static_cast<std::uint64_t>(input.number()) : 0));
  }
  writer.patch(version_offset, 1 | count << 32);
  std::uint64_t size = writer.bytes().size();
  for (const auto& part : parts) size += part.size();
  writer.patch(pack_size_offset, size);
  const std::span<const std::byte> all = writer.bytes();
  writer.patch(pack_checksum_offset, detail::checksum(all.subspan(detail::pack_head_bytes),
                                                      detail::checksum(all.first(pack_checksum_offset))));
  for (const auto& part : parts) writer.raw(part.data(), part.size());
  return writer.take();
}

}  // namespace

void packs(Bytes input) {
  Input values(input);
  std::vector<std::byte> bytes;
  if (values.byte() % 4 != 0) {
    bytes = pack_bytes(values);
  } else {
    for (const std::uint8_t byte : values.rest()) bytes.push_back(std::byte{byte});
  }
  const MemoryFile file(bytes);
  const Result<std::vector<Artifact>> read = read_pack(file.path());
  check_message(read.status());
  check_message(load_pack(file.path()));
  if (!read) return;
  std::vector<std::shared_ptr<const detail::ArtifactData>> data;
  for (const Artifact& artifact : *read) data.push_back(artifact.shared_data());
  require(detail::pack_to_bytes(data) == bytes, "a pack that was read is written as it was");
}

}  // namespace quarry::fuzz
