/// Invalid entries of the cache on disk: each is found, set aside, and made again.
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "registry/compile/disk_cache_file.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

namespace fs = std::filesystem;

/// A cache with one entry.
struct OneEntry {
  OneEntry() {
    cache.store(keyed_artifact(key, 2000));
    good = file_bytes(path);
    REQUIRE(cache.load(key));
  }
  /// Whether the entry as it now is counts as absent, is set aside, and can be made again.
  bool is_noticed() {
    const bool absent = cache.load(key) == nullptr;
    const bool aside = !fs::exists(fs::symlink_status(path)) && files_ending(folder.path(), ".bad") == 1;
    write_file(path, good);
    const auto again = cache.load(key);
    return absent && aside && again && is_of(*again, key);
  }

  std::string key = "a key";
  TestFolder folder;
  DiskCache cache{in_folder(folder.path())};
  std::string path = folder / entry_name(key);
  std::vector<std::byte> good;
};

TEST_CASE("A flipped bit in any byte of an entry is noticed", "[disk cache]") {
  OneEntry one;
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const std::size_t header = one.good.size() - 2000;  // everything except the code
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < header; ++i) places.push_back(i);
  for (int i = 0; i < 200; ++i) places.push_back(header + random() % 2000);
  for (const std::size_t place : places) {
    std::vector<std::byte> bytes = one.good;
    bytes[place] ^= std::byte{1} << random() % 8;
    write_file(one.path, bytes);
    INFO("byte " << place);
    REQUIRE(one.is_noticed());
  }
}

TEST_CASE("An entry that is cut short anywhere, or too long, is noticed", "[disk cache]") {
  OneEntry one;
  const std::size_t size = one.good.size();
  for (std::size_t length = 0; length < size; length += length < size - 2000 || length + 20 > size ? 1 : 17) {
    write_file(one.path, {one.good.begin(), one.good.begin() + static_cast<std::ptrdiff_t>(length)});
    INFO("cut to " << length);
    REQUIRE(one.is_noticed());
  }
  std::vector<std::byte> bytes = one.good;
  bytes.push_back(std::byte{0});
  write_file(one.path, bytes);
  CHECK(one.is_noticed());
}

TEST_CASE("A file of something else in an entry's place is noticed", "[disk cache]") {
  OneEntry one;
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (const std::size_t size : {0, 1, 31, 32, 33, 100, 5000}) {
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    write_file(one.path, bytes);
    INFO(size << " random bytes");
    CHECK(one.is_noticed());
  }
  write_file(one.path, to_bytes(keyed_artifact("another key")));
  CHECK(one.is_noticed());
  fs::resize_file(one.path, std::uintmax_t{1} << 40);  // a hole, of no use to read
  CHECK(one.is_noticed());
}

TEST_CASE("What is no file in an entry's place is noticed and not waited for", "[disk cache]") {
  OneEntry one;
  const auto replaced = [&](const std::function<void()>& make) {
    fs::remove_all(one.path);
    make();
    REQUIRE(one.is_noticed());
    fs::remove_all(one.folder / set_aside_name(entry_name(one.key)));
  };
  replaced([&] { fs::create_directory(one.path); });
  replaced([&] { fs::create_directories(one.path + "/with/contents"); });
  replaced([&] { REQUIRE(mkfifo(one.path.c_str(), 0600) == 0); });
  replaced([&] { fs::create_symlink("/nowhere", one.path); });
  write_file(one.folder / "elsewhere", one.good);
  replaced([&] { fs::create_symlink(one.folder / "elsewhere", one.path); });
}

TEST_CASE("An entry that others may have written is not believed", "[disk cache]") {
  OneEntry one;
  fs::permissions(one.path, fs::perms::group_write, fs::perm_options::add);
  CHECK(one.is_noticed());
  if (geteuid() != 0) {
    WARN("not root: no test of an entry of another user");
    return;
  }
  REQUIRE(chown(one.path.c_str(), 65534, 65534) == 0);
  CHECK(one.is_noticed());
}

TEST_CASE("Few of those set aside are kept", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  for (int i = 0; i < 40; ++i) {
    const std::string key = "key " + std::to_string(i);
    write_file(folder / entry_name(key), {std::byte{1}});
    if (i < 39) set_used(folder / entry_name(key), i);  // the last one is the oldest
    CHECK(cache.load(key) == nullptr);
  }
  CHECK(cache.info().set_aside == 16);
  CHECK(fs::exists(folder / set_aside_name(entry_name("key 39"))));
}

TEST_CASE("An entry that another process has just replaced is not set aside", "[disk cache]") {
  OneEntry one;
  write_file(one.path, {std::byte{1}});
  const auto folder = open_cache_folder(one.folder.path(), false);
  REQUIRE(folder);
  const FoundEntry found = read_entry(**folder, entry_name(one.key));
  REQUIRE_FALSE(found.status);
  one.cache.store(keyed_artifact(one.key, 2000));
  set_aside(**folder, entry_name(one.key), found.file);
  CHECK(one.cache.load(one.key));
  CHECK(files_ending(one.folder.path(), ".bad") == 0);
}

TEST_CASE("An entry that cannot be set aside counts as absent all the same", "[disk cache]") {
  OneEntry one;
  fs::create_directories(one.folder / set_aside_name(entry_name(one.key)) + "/with");
  write_file(one.path, {std::byte{1}});
  CHECK(one.cache.load(one.key) == nullptr);
  one.cache.store(keyed_artifact(one.key, 2000));
  CHECK(one.cache.load(one.key));
}

}  // namespace
}  // namespace quarry::detail
