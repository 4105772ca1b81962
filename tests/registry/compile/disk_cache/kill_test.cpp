/// Processes that fill the cache on disk are killed at random moments. What they had stored is there and
/// whole; of what they were storing there is all or nothing.
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <new>
#include <random>
#include <set>
#include <thread>

#include "lab/problems/fresh_seed.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

constexpr int writers = 2;

/// How many entries each writer has stored, in memory that outlives it.
struct Progress {
  std::atomic<int> stored[writers];
};

/// Shared with the processes that are forked from now on.
struct SharedProgress {
  SharedProgress()
      : at(static_cast<Progress*>(
            mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    REQUIRE(at != MAP_FAILED);
    new (at) Progress{};
  }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;
  ~SharedProgress() { munmap(at, sizeof(Progress)); }
  Progress* at;
};

/// The keys of a writer: every third is one that all writers store over and over.
std::string key_of(int round, int writer, int i) {
  if (i % 3 == 2) return "common " + std::to_string((i * 5 + writer) % 16);
  return std::to_string(round) + "." + std::to_string(writer) + "." + std::to_string(i);
}

std::size_t bytes_of(const std::string& key) { return 500 + std::hash<std::string>()(key) % 12000; }

/// Stores until it is killed.
[[noreturn]] void write_on(const CacheSettings& settings, int round, int writer, Progress& progress) {
  DiskCache cache(settings);
  for (int i = 0;; ++i) {
    const std::string key = key_of(round, writer, i);
    cache.store(keyed_artifact(key, bytes_of(key)));
    progress.stored[writer].store(i + 1, std::memory_order_release);
  }
}

/// Starts the writers, and kills each after some milliseconds.
void run_and_kill(const CacheSettings& settings, int round, Progress& progress, std::mt19937& random) {
  pid_t children[writers];
  for (int writer = 0; writer < writers; ++writer) {
    progress.stored[writer] = 0;
    children[writer] = fork();
    REQUIRE(children[writer] >= 0);
    if (children[writer] == 0) write_on(settings, round, writer, progress);
  }
  for (const pid_t child : children) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25000));
    REQUIRE(kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));  // it never ends by itself
  }
}

/// What is there of a key: nothing, or all of it.
bool there(DiskCache& cache, const std::string& key) {
  const auto loaded = cache.load(key);
  if (!loaded) return false;
  INFO(key);
  REQUIRE(is_of(*loaded, key));
  return true;
}

TEST_CASE("No entry is lost or half there when writers are killed", "[disk cache]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const TestFolder folder;
  const SharedProgress progress;
  std::set<std::string> complete;
  for (int round = 0; round < 200 / writers; ++round) {
    run_and_kill(in_folder(folder / "cache"), round, *progress.at, random);
    DiskCache cache(in_folder(folder / "cache"));
    for (int writer = 0; writer < writers; ++writer) {
      const int stored = progress.at->stored[writer];
      for (int i = 0; i < stored; ++i) {
        const std::string key = key_of(round, writer, i);
        INFO("round " << round << ", " << key << " of " << stored);
        REQUIRE(there(cache, key));
        complete.insert(key);
      }
      for (int i = stored; i < stored + 3; ++i) there(cache, key_of(round, writer, i));
    }
  }
  DiskCache cache(in_folder(folder / "cache"));
  for (const std::string& key : complete) {
    INFO(key);
    REQUIRE(there(cache, key));
  }
  for (const CacheEntry& entry : cache.entries()) {
    INFO(entry.file << ": " << entry.status.message());
    REQUIRE(entry.status);
  }
  CHECK(complete.size() > 0);  // the writers did write
  CHECK(files_ending(folder / "cache", ".bad") == 0);
  const std::size_t left = files_ending(folder / "cache", ".tmp");
  std::printf("killed 200 writers: %zu entries complete, %zu files half written\n", complete.size(), left);
  CHECK(left > 0);  // or none was killed while it wrote
  CHECK(left <= 200);

  for (const auto& file : std::filesystem::directory_iterator(folder / "cache")) {
    if (file.path().string().ends_with(".tmp")) set_used(file.path().string(), -4000);
  }
  DiskCache(in_folder(folder / "cache")).store(keyed_artifact("one more"));
  CHECK(files_ending(folder / "cache", ".tmp") == 0);
}

TEST_CASE("Nothing is half there when writers are killed that make room", "[disk cache]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const TestFolder folder;
  const CacheSettings settings = in_folder(folder / "cache", 60000);  // about eight entries
  const SharedProgress progress;
  std::size_t loaded = 0;
  for (int round = 0; round < 20; ++round) {
    run_and_kill(settings, round, *progress.at, random);
    DiskCache cache(settings);
    for (int writer = 0; writer < writers; ++writer) {
      for (int i = 0; i < progress.at->stored[writer] + 3; ++i)
        loaded += there(cache, key_of(round, writer, i)) ? 1 : 0;
    }
    // The lock of one who was killed while making room is free again.
    cache.store(keyed_artifact("one more"));
    CHECK(cache.load("one more"));
    std::uint64_t bytes = 0;  // the temporary files of the killed are not counted
    for (const CacheEntry& entry : cache.entries()) bytes += entry.bytes;
    CHECK(bytes <= settings.limit);
  }
  CHECK(loaded > 0);
  CHECK(files_ending(folder / "cache", ".bad") == 0);
}

}  // namespace
}  // namespace quarry::detail
