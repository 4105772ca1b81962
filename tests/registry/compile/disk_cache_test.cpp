/// The cache on disk: what was stored comes back, within a bound, however many use it at once.
#include <atomic>
#include <map>
#include <thread>

#include "registry/compile/disk_cache_file.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

namespace fs = std::filesystem;

CacheSettings settings_of(const std::map<std::string, std::string>& environment) {
  return cache_settings([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST_CASE("The environment says where the cache is", "[disk cache]") {
  CHECK(settings_of({{"QUARRY_CACHE_DIR", "/a/b"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).folder ==
        "/a/b");
  CHECK(settings_of({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}).folder == "/x/quarry");
  CHECK(settings_of({{"HOME", "/h"}}).folder == "/h/.cache/quarry");
  CHECK(settings_of({{"QUARRY_CACHE_DIR", ""}, {"XDG_CACHE_HOME", ""}, {"HOME", "/h"}}).folder ==
        "/h/.cache/quarry");
  CHECK(settings_of({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}).folder == "/h/.cache/quarry");
  CHECK(settings_of({{"QUARRY_CACHE_DIR", "b"}}).folder == fs::current_path().string() + "/b");
  for (const CacheSettings& none : {settings_of({}), settings_of({{"HOME", "relative"}})}) {
    CHECK(none.folder.empty());
    CHECK_THAT(none.found.message(), Catch::Contains("HOME"));
  }
}

TEST_CASE("The environment says how large the cache may be", "[disk cache]") {
  CHECK(settings_of({}).limit == std::uint64_t{1024} << 20);
  CHECK(settings_of({{"QUARRY_CACHE_SIZE", ""}}).complaint.empty());
  CHECK(settings_of({{"QUARRY_CACHE_SIZE", "7"}}).limit == 7 << 20);
  CHECK(settings_of({{"QUARRY_CACHE_SIZE", "0"}}).limit == 0);
  CHECK(settings_of({{"QUARRY_CACHE_SIZE", "0"}}).complaint.empty());
  for (const char* nonsense :
       {"-5", "12MB", " 12", "1.5", "much", "99999999999999999999", "20000000000000"}) {
    const CacheSettings settings = settings_of({{"QUARRY_CACHE_SIZE", nonsense}});
    INFO(nonsense);
    CHECK(settings.limit == std::uint64_t{1024} << 20);
    CHECK_THAT(settings.complaint, Catch::Contains(nonsense) && Catch::Contains("1024"));
  }
}

TEST_CASE("What was stored comes back, also in another process", "[disk cache]") {
  const TestFolder folder;
  const std::string path = folder / "above/cache";
  const StandardError said;
  {
    DiskCache cache(in_folder(path));
    CHECK(cache.load("a key") == nullptr);
    CHECK_FALSE(fs::exists(path));  // looking makes nothing
    cache.store(keyed_artifact("a key"));
    cache.store(keyed_artifact("another key", 40000));
  }
  DiskCache cache(in_folder(path));
  for (const std::string key : {"a key", "another key"}) {
    const auto artifact = cache.load(key);
    REQUIRE(artifact);
    CHECK(is_of(*artifact, key));
  }
  CHECK(cache.load("a third key") == nullptr);
  CHECK(said.text().empty());
}

TEST_CASE("The folder and its files are for their owner alone, and named by a digest", "[disk cache]") {
  const TestFolder folder;
  const std::string path = folder / "cache";
  const mode_t mask = umask(0);
  DiskCache cache(in_folder(path));
  cache.store(keyed_artifact("a key"));
  umask(mask);
  CHECK(fs::status(path).permissions() == fs::perms::owner_all);
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(path)) {
    names.push_back(file.path().filename().string());
    CHECK(file.status().permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  }
  REQUIRE(names.size() == 1);  // and no temporary file is left
  CHECK(names[0] == entry_name("a key"));
  CHECK(names[0].find_first_not_of("0123456789abcdef") == 32);
}

TEST_CASE("Names differ in all of their digest", "[disk cache]") {
  std::map<std::string, int> first;
  std::map<std::string, int> second;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = entry_name("key " + std::to_string(i));
    ++first[name.substr(0, 16)];
    ++second[name.substr(16, 16)];
  }
  CHECK(first.size() == 5000);
  CHECK(second.size() == 5000);
  CHECK(entry_name(std::string(1, '\0')) != entry_name(std::string(2, '\0')));
}

TEST_CASE("What cannot be an entry is not stored", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path(), 2000));
  ArtifactData precompiled = keyed_artifact("a key");
  precompiled.key = "";
  cache.store(precompiled);
  ArtifactData empty = keyed_artifact("a key");
  empty.code = {};
  cache.store(empty);
  cache.store(keyed_artifact("larger than the bound", 3000));
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("A cache of no size is off", "[disk cache]") {
  const TestFolder folder;
  const StandardError said;
  DiskCache off(in_folder(folder.path(), 0));
  off.store(keyed_artifact("a key"));
  CHECK(fs::is_empty(folder.path()));
  DiskCache(in_folder(folder.path())).store(keyed_artifact("a key"));
  CHECK(off.load("a key") == nullptr);
  CHECK(said.text().empty());
  CHECK(off.info().entries == 1);
}

TEST_CASE("What was not used for longest goes first", "[disk cache]") {
  const TestFolder folder;
  const std::size_t bytes = to_bytes(keyed_artifact("key 00", 1000)).size();
  const auto key = [](int i) { return "key " + std::to_string(10 + i); };
  DiskCache cache(in_folder(folder.path(), 20 * bytes));
  for (int i = 0; i < 20; ++i) {
    cache.store(keyed_artifact(key(i), 1000));
    set_used(folder / entry_name(key(i)), i - 100);
  }
  CHECK(cache.info().entries == 20);  // they just fit
  CHECK(cache.load(key(0)));          // used now, and therefore the last to go
  cache.store(keyed_artifact(key(20), 1000));
  const CacheInfo info = cache.info();
  CHECK(info.bytes <= 20 * bytes - 20 * bytes / 8);
  CHECK(info.entries == 17);
  for (int i = 0; i <= 20; ++i) {
    INFO(i);
    CHECK(fs::exists(folder / entry_name(key(i))) == (i == 0 || i > 4));
  }
}

TEST_CASE("The bound holds in a process that finds a full folder", "[disk cache]") {
  const TestFolder folder;
  DiskCache large(in_folder(folder.path()));
  for (int i = 0; i < 50; ++i) large.store(keyed_artifact("key " + std::to_string(i), 1000));
  DiskCache small(in_folder(folder.path(), 10000));
  small.store(keyed_artifact("one more", 1000));
  CHECK(small.info().bytes <= 10000);
  CHECK(small.load("one more"));
}

TEST_CASE("What was just stored stays, even where all others seem to be used later", "[disk cache]") {
  const TestFolder folder;
  DiskCache large(in_folder(folder.path()));
  for (int i = 0; i < 20; ++i) {
    large.store(keyed_artifact("key " + std::to_string(i), 1000));
    set_used(folder / entry_name("key " + std::to_string(i)), 1000);  // a clock that was wrong
  }
  DiskCache small(in_folder(folder.path(), 10000));
  small.store(keyed_artifact("one more", 1000));
  CHECK(small.load("one more"));
  CHECK(small.info().bytes <= 10000);
}

TEST_CASE("One that is as large as the bound stays until the next comes", "[disk cache]") {
  const TestFolder folder;
  const std::size_t bytes = to_bytes(keyed_artifact("key 0", 1000)).size();
  DiskCache cache(in_folder(folder.path(), bytes));
  cache.store(keyed_artifact("key 0", 1000));
  CHECK(cache.load("key 0"));
  set_used(folder / entry_name("key 0"), -10);
  cache.store(keyed_artifact("key 1", 1000));
  CHECK(cache.load("key 1"));
  CHECK(cache.load("key 0") == nullptr);
}

TEST_CASE("Temporary files of the dead are removed when they are old", "[disk cache]") {
  const TestFolder folder;
  const std::string stem = entry_name("a key").substr(0, 33);
  for (const char* name : {"0.1.0.123.0.tmp", "9.9.9.124.7.tmp"}) {
    write_file(folder / (stem + name), {std::byte{1}});
    set_used(folder / (stem + name), -3700);
  }
  write_file(folder / (stem + "0.1.0.125.0.tmp"), {std::byte{1}});
  set_used(folder / (stem + "0.1.0.125.0.tmp"), -3000);
  write_file(folder / "mine.tmp", {std::byte{1}});
  set_used(folder / "mine.tmp", -10000);
  DiskCache(in_folder(folder.path())).store(keyed_artifact("a key"));
  CHECK(files_ending(folder.path(), ".tmp") == 2);
  CHECK(fs::exists(folder / (stem + "0.1.0.125.0.tmp")));
  CHECK(fs::exists(folder / "mine.tmp"));  // not of the cache
}

TEST_CASE("A temporary name that is taken is not a failure", "[disk cache]") {
  const TestFolder folder;
  const std::string stem = entry_name("a key").substr(0, entry_name("a key").rfind('.') + 1);
  for (int i = 0; i < 100; ++i)
    write_file(folder / (stem + std::to_string(getpid()) + "." + std::to_string(i) + ".tmp"), {});
  DiskCache cache(in_folder(folder.path()));
  cache.store(keyed_artifact("a key"));
  CHECK(cache.load("a key"));
}

TEST_CASE("A folder that was removed is made again", "[disk cache]") {
  const TestFolder folder;
  const StandardError said;
  DiskCache cache(in_folder(folder / "cache"));
  cache.store(keyed_artifact("a key"));
  fs::remove_all(folder / "cache");
  CHECK(cache.load("a key") == nullptr);
  cache.store(keyed_artifact("a key"));
  CHECK(cache.load("a key"));
  CHECK(DiskCache(in_folder(folder / "cache")).load("a key"));
  CHECK(said.text().empty());
}

TEST_CASE("Entries are listed, the latest first, those of another version unchecked", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  CHECK(DiskCache(in_folder(folder / "absent")).entries().empty());
  for (const char* key : {"old", "new", "damaged"}) cache.store(keyed_artifact(key));
  set_used(folder / entry_name("old"), -100);
  set_used(folder / entry_name("damaged"), -50);
  fs::resize_file(folder / entry_name("damaged"), 100);
  set_used(folder / entry_name("damaged"), -50);
  const std::string foreign = entry_name("x").substr(0, 33) + "77.1.2.artifact";
  write_file(folder / foreign, {std::byte{7}});
  set_used(folder / foreign, -200);

  const std::vector<CacheEntry> entries = cache.entries();
  REQUIRE(entries.size() == 4);
  CHECK(entries[0].file == entry_name("new"));
  CHECK(entries[0].entry == keyed_artifact("new").entry);
  CHECK(entries[0].target == 90);
  CHECK(entries[0].compiler == "nvrtc 13.0");
  CHECK(entries[0].bytes == to_bytes(keyed_artifact("new")).size());
  CHECK(entries[0].status);
  CHECK_FALSE(entries[1].status);
  CHECK_THAT(entries[1].status.message(), Catch::Contains("100 bytes"));
  CHECK(entries[2].file == entry_name("old"));
  CHECK(entries[0].last_used - entries[2].last_used >= 99);
  CHECK(entries[3].version == "77.1.2");
  CHECK(entries[3].status);
  CHECK(files_ending(folder.path(), ".bad") == 0);  // looking sets nothing aside
}

TEST_CASE("Clearing removes what is the cache's and nothing else", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  for (int i = 0; i < 5; ++i) cache.store(keyed_artifact("key " + std::to_string(i)));
  fs::resize_file(folder / entry_name("key 3"), 10);
  CHECK(cache.load("key 3") == nullptr);  // sets it aside
  CHECK(cache.info().set_aside == 1);
  CHECK(cache.info().entries == 4);
  const std::string stem = entry_name("x").substr(0, 33);
  write_file(folder / (stem + "77.1.2.artifact"), {});
  write_file(folder / (stem + "0.1.0.1.1.tmp"), {});
  for (const char* name : {"README.artifact", "0123456789abcdef.bad", "notes"}) write_file(folder / name, {});
  const auto removed = cache.clear();
  REQUIRE(removed);
  CHECK(*removed == 6);
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 3);
  const auto none = DiskCache(in_folder(folder / "absent")).clear();
  REQUIRE(none);
  CHECK(*none == 0);
}

TEST_CASE("What cannot be cleared is named", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  cache.store(keyed_artifact("a key"));
  fs::create_directories(folder / entry_name("a folder") + "/with");
  const auto removed = cache.clear();
  REQUIRE_FALSE(removed);
  CHECK_THAT(removed.status().message(),
             Catch::Contains(entry_name("a folder")) && Catch::Contains("1 other"));
  CHECK(cache.info().entries == 1);
}

/// Threads that store, load and clear, or store into a cache that is too small. Each has a cache of its own,
/// as processes have, or shares one.
void use_at_once(const std::string& folder, std::uint64_t limit, bool shared, bool clearing) {
  constexpr int rounds = 60;
  DiskCache common(in_folder(folder, limit));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      DiskCache own(in_folder(folder, limit));
      DiskCache& cache = shared ? common : own;
      for (int i = 0; i < rounds; ++i) {
        const std::string key = "key " + std::to_string((i * 7 + t) % 20);
        cache.store(keyed_artifact(key, 1000));
        const std::string other = "key " + std::to_string((i * 3 + t) % 20);
        if (const auto loaded = cache.load(other); loaded && !is_of(*loaded, other)) ++wrong;
        if (clearing && t == 0 && i % 5 == 0 && !cache.clear()) ++wrong;
        if (i % 10 == 0)
          for (const CacheEntry& entry : cache.entries()) wrong += entry.status ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("Many may store, load, list and clear at once", "[disk cache]") {
  const StandardError said;
  for (const bool shared : {false, true}) {
    const TestFolder folder;
    use_at_once(folder.path(), default_cache_limit, shared, true);
    CHECK(files_ending(folder.path(), ".bad") == 0);
    CHECK(files_ending(folder.path(), ".tmp") == 0);
  }
  CHECK(said.text().empty());
}

TEST_CASE("Many may remove the oldest at once", "[disk cache]") {
  const StandardError said;
  for (const bool shared : {false, true}) {
    const TestFolder folder;
    const std::uint64_t limit = 8000;
    use_at_once(folder.path(), limit, shared, false);
    DiskCache last(in_folder(folder.path(), limit));
    last.store(keyed_artifact("key 3", 1000));
    CHECK(last.info().bytes <= limit);
    CHECK(last.info().entries >= 4);  // and not all are gone
  }
  CHECK(said.text().empty());
}

}  // namespace
}  // namespace quarry::detail
