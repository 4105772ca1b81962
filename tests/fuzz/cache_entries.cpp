#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/artifact_bytes.hpp"
#include "fuzz/harness_list.hpp"
#include "registry/compile/disk_cache.hpp"

namespace quarry::fuzz {
namespace {

/// The key of an artifact, or one that the input says.
std::string key_of(std::span<const std::byte> bytes, bool own, Input& input) {
  if (own) {
    if (const auto artifact = detail::from_bytes(bytes)) return (*artifact)->key;
  }
  return std::string(text_of(input.take(8)));
}

void write_file(const std::string& path, std::span<const std::byte> bytes, mode_t mode) {
  const detail::Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) return;
  require(write(file.number(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()),
          "files can be written");
}

}  // namespace

void cache_entries(Bytes input) {
  Input values(input);
  const std::string folder = std::string(sandbox()) + "/entries";
  detail::DiskCache cache({.folder = folder, .found = {}});
  // The folder is made when something is stored.
  static const bool made = mkdir(folder.c_str(), 0700) == 0;
  require(made, "the folder can be made");
  const std::uint8_t choice = values.byte();
  const mode_t mode = choice % 8 == 1 ? 0666 : 0600;
  Input content = values;
  const std::vector<std::byte> bytes = artifact_bytes(content);
  const std::string key = key_of(bytes, choice % 4 != 0, values);
  write_file(folder + "/" + detail::entry_name(key), bytes, mode);
  for (const CacheEntry& entry : cache.entries()) check_message(entry.status);
  const auto found = cache.load(key);
  require(found == nullptr || found->key == key, "what the cache gives is of the key that was asked for");
  if (found) cache.store(*found);
  (void)cache.info();
  const Result<std::size_t> removed = cache.clear();
  require(removed && *removed == 1, "the cache is cleared of one file");
}

}  // namespace quarry::fuzz
