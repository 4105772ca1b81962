/// The order of the cache's system calls, which decides what a crash of the machine leaves, and what happens
/// when one of them fails. The functions of this file stand before the C library's.
#include <dlfcn.h>

#include <algorithm>
#include <cerrno>

#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace {

/// Watched calls since `watching` was set, and the one that is to fail.
bool watching = false;
std::vector<std::string> calls;
std::string failing_call;
int failing_error = 0;
/// A write does at most so many bytes at a time, and every second one is interrupted, where it is not 0.
std::size_t most_written = 0;

/// The last part of the name of an open file: what follows its last dot, or "folder".
std::string kind_of(int file) {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file), error);
  return error || !path.has_extension() ? "folder" : path.extension().string();
}

/// Notes a call. @return whether it is to fail, errno being set
bool noted(const std::string& call) {
  if (!watching) return false;
  calls.push_back(call);
  if (call != failing_call) return false;
  errno = failing_error;
  return true;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" int fsync(int file) {
  if (watching && noted("fsync " + kind_of(file))) return -1;
  return next<int(int)>("fsync")(file);
}

extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  const auto kind = [](const char* name) { return std::filesystem::path(name).extension().string(); };
  if (watching && noted("rename " + kind(from) + " " + kind(to))) return -1;
  return next<int(int, const char*, int, const char*)>("renameat")(from_folder, from, to_folder, to);
}

extern "C" ssize_t write(int file, const void* data, std::size_t size) {
  if (watching && kind_of(file) == ".tmp") {
    if (noted("write")) return -1;
    if (most_written != 0) {
      errno = EINTR;
      if (calls.size() % 2 == 1) return -1;
      size = std::min(size, most_written);
    }
  }
  return next<ssize_t(int, const void*, std::size_t)>("write")(file, data, size);
}

namespace quarry::detail {
namespace {

/// Stores one entry with one call failing. @return what was said on standard error
std::string store_with(DiskCache& cache, const std::string& call, int error) {
  const StandardError said;
  calls.clear();
  failing_call = call;
  failing_error = error;
  watching = true;
  cache.store(keyed_artifact("a key", 5000));
  watching = false;
  failing_call.clear();
  return said.text();
}

TEST_CASE("An entry is on disk before it has its name, and its name before the store is done",
          "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  CHECK(store_with(cache, "", 0).empty());
  CHECK(calls == std::vector<std::string>{"write", "fsync .tmp", "rename .tmp .artifact", "fsync folder"});
}

TEST_CASE("A call that fails leaves no entry and no other file, and is said once", "[disk cache]") {
  for (const char* call : {"write", "fsync .tmp", "rename .tmp .artifact"}) {
    for (const int error : {EIO, ENOSPC, EDQUOT, EROFS}) {
      INFO(call << ": " << error_text(error));
      const TestFolder folder;
      DiskCache cache(in_folder(folder.path()));
      CHECK_THAT(store_with(cache, call, error), Catch::Contains(error_text(error)));
      CHECK(std::filesystem::is_empty(folder.path()));
      CHECK(cache.load("a key") == nullptr);
      CHECK(store_with(cache, call, error).empty());
      CHECK(store_with(cache, "", 0).empty());
      CHECK(cache.load("a key"));
    }
  }
}

TEST_CASE("A file system that cannot sync is no failure", "[disk cache]") {
  for (const char* call : {"fsync .tmp", "fsync folder"}) {
    const TestFolder folder;
    DiskCache cache(in_folder(folder.path()));
    CHECK(store_with(cache, call, EINVAL).empty());
    CHECK(cache.load("a key"));
  }
}

TEST_CASE("A store whose temporary file was cleared away is no failure", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  CHECK(store_with(cache, "rename .tmp .artifact", ENOENT).empty());
  CHECK(cache.load("a key") == nullptr);
}

TEST_CASE("Writes may be interrupted and do a part", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  most_written = 100;
  CHECK(store_with(cache, "", 0).empty());
  most_written = 0;
  CHECK(std::count(calls.begin(), calls.end(), "write") > 100);
  const auto loaded = cache.load("a key");
  REQUIRE(loaded);
  CHECK(is_of(*loaded, "a key"));
}

TEST_CASE("An entry that cannot be renamed is not believed all the same", "[disk cache]") {
  const TestFolder folder;
  DiskCache cache(in_folder(folder.path()));
  write_file(folder / entry_name("a key"), {std::byte{1}});
  failing_call = "rename .artifact .bad";
  failing_error = EROFS;
  watching = true;
  const auto loaded = cache.load("a key");
  watching = false;
  failing_call.clear();
  CHECK(loaded == nullptr);
  cache.store(keyed_artifact("a key"));
  CHECK(cache.load("a key"));
}

}  // namespace
}  // namespace quarry::detail
