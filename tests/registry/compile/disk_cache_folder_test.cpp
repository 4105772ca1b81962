/// Folders that the cache on disk must not or cannot use: one warning, and everything goes on without it.
#include <sys/mount.h>
#include <sys/resource.h>

#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

namespace fs = std::filesystem;

/// Uses a cache as a library does, several times. @return what was said on standard error
std::string said_by(CacheSettings settings) {
  const StandardError said;
  DiskCache cache(std::move(settings));
  for (int i = 0; i < 3; ++i) {
    const std::string key = "key " + std::to_string(i);
    CHECK(cache.load(key) == nullptr);
    cache.store(keyed_artifact(key));
    CHECK(cache.load(key) == nullptr);
  }
  return said.text();
}

/// Whether it is one line that says all of this.
void check_warning(const std::string& said, const std::vector<std::string>& words) {
  INFO(said);
  CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  CHECK(said.starts_with("quarry: the cache of compiled kernels is not used: "));
  for (const std::string& word : words) CHECK_THAT(said, Catch::Contains(word));
}

TEST_CASE("No home is one warning", "[disk cache]") {
  check_warning(said_by(cache_settings([](const char*) { return nullptr; })), {"HOME"});
}

TEST_CASE("A file in the folder's place, or above it, is one warning", "[disk cache]") {
  const TestFolder folder;
  write_file(folder / "file", {});
  check_warning(said_by(in_folder(folder / "file")), {folder / "file", "is no folder"});
  check_warning(said_by(in_folder(folder / "file/below")), {folder / "file/below"});
  fs::create_symlink("/nowhere/at/all", folder / "link");
  check_warning(said_by(in_folder(folder / "link")), {folder / "link"});
  check_warning(said_by(in_folder("/proc/quarry")), {"/proc/quarry", "cannot be made"});
  CHECK(fs::is_empty(folder / "file"));
}

TEST_CASE("A folder that others may write is one warning, and nothing of it is believed", "[disk cache]") {
  for (const fs::perms writer : {fs::perms::group_write, fs::perms::others_write}) {
    const TestFolder folder;
    DiskCache(in_folder(folder.path())).store(keyed_artifact("key 0"));
    fs::permissions(folder.path(), writer, fs::perm_options::add);
    check_warning(said_by(in_folder(folder.path())), {folder.path(), "may be written by other users"});
    CHECK(files_ending(folder.path(), ".artifact") == 1);
    DiskCache cache(in_folder(folder.path()));
    CHECK_FALSE(cache.info().usable);
    CHECK(cache.entries().empty());
    CHECK_FALSE(cache.clear());
  }
}

TEST_CASE("A link to a folder of one's own is as good as the folder", "[disk cache]") {
  const TestFolder folder;
  fs::create_directory(folder / "cache");
  fs::permissions(folder / "cache", fs::perms::owner_all);
  fs::create_directory_symlink(folder / "cache", folder / "link");
  const StandardError said;
  DiskCache cache(in_folder(folder / "link"));
  cache.store(keyed_artifact("a key"));
  CHECK(cache.load("a key"));
  CHECK(said.text().empty());
}

TEST_CASE("A folder of another user is one warning, also through a link", "[disk cache]") {
  if (geteuid() != 0) {
    WARN("not root: no test with another user's folder");
    return;
  }
  const TestFolder folder;
  const std::string path = folder / "cache";
  DiskCache(in_folder(path)).store(keyed_artifact("key 0"));
  REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
  fs::create_directory_symlink(path, folder / "link");
  for (const std::string& place : {path, folder / "link", folder / "link/"})
    check_warning(said_by(in_folder(place)), {place, "belongs to another user (65534)"});

  // The folder is ours, the link to it is not.
  REQUIRE(chown(path.c_str(), 0, 0) == 0);
  REQUIRE(lchown((folder / "link").c_str(), 65534, 65534) == 0);
  for (const std::string& place : {folder / "link", folder / "link/"})
    check_warning(said_by(in_folder(place)), {place, "is a link that belongs to another user (65534)"});
}

/// Another user for a while, where this is root, whom no permission stops.
class NotRoot {
 public:
  NotRoot() : root_(geteuid() == 0) {
    if (root_) REQUIRE(seteuid(65534) == 0);
  }
  NotRoot(const NotRoot&) = delete;
  NotRoot& operator=(const NotRoot&) = delete;
  ~NotRoot() {
    if (root_) static_cast<void>(!seteuid(0));
  }

 private:
  bool root_;
};

TEST_CASE("A folder that cannot be written is one warning, and what is in it is used", "[disk cache]") {
  const TestFolder folder;
  fs::permissions(folder.path(), fs::perms::all);
  const NotRoot user;
  const std::string path = folder / "cache";
  DiskCache(in_folder(path)).store(keyed_artifact("a key"));
  write_file(path + "/" + entry_name("damaged"), {std::byte{1}});
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_exec);
  check_warning(said_by(in_folder(path)), {path, "cannot write", "Permission denied"});
  {
    const StandardError said;
    DiskCache cache(in_folder(path));
    CHECK(cache.load("a key"));
    CHECK(cache.load("damaged") == nullptr);
    CHECK(said.text().empty());
  }
  check_warning(said_by(in_folder(path + "/below")), {path + "/below", "cannot be made"});
  fs::permissions(path, fs::perms::none);
  check_warning(said_by(in_folder(path)), {path, "Permission denied"});
  fs::permissions(path, fs::perms::owner_all);
}

TEST_CASE("A limit of file sizes is one warning and no signal", "[disk cache]") {
  const TestFolder folder;
  rlimit before = {};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit small = {1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string said;
  {
    const StandardError error;
    DiskCache cache(in_folder(folder.path()));
    for (int i = 0; i < 3; ++i) cache.store(keyed_artifact("a key", 5000));
    CHECK(cache.load("a key") == nullptr);
    said = error.text();
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(fs::is_empty(folder.path()));
  check_warning(said, {folder.path(), "File too large"});
}

TEST_CASE("A full disk is one warning, and leaves nothing half written", "[disk cache]") {
  const TestFolder folder;
  if (mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k,mode=700") != 0) {
    WARN("no right to mount a file system: no test with a full disk");
    return;
  }
  {
    const StandardError error;
    DiskCache cache(in_folder(folder.path()));
    cache.store(keyed_artifact("small"));
    for (int i = 0; i < 3; ++i) cache.store(keyed_artifact("large", 100000));
    CHECK(cache.load("large") == nullptr);
    CHECK(cache.load("small"));
    CHECK(files_ending(folder.path(), ".tmp") == 0);
    check_warning(error.text(), {"No space left"});
    fs::remove(folder / entry_name("small"));
    cache.store(keyed_artifact("later", 2000));  // there is space again
    CHECK(cache.load("later"));
  }
  CHECK(umount(folder.path().c_str()) == 0);
}

TEST_CASE("A read-only disk is one warning, and what is on it is used", "[disk cache]") {
  const TestFolder folder;
  const char* const path = folder.path().c_str();
  if (mount("tmpfs", path, "tmpfs", 0, "mode=700") != 0) {
    WARN("no right to mount a file system: no test with a read-only disk");
    return;
  }
  DiskCache(in_folder(folder.path())).store(keyed_artifact("a key"));
  REQUIRE(mount("tmpfs", path, "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) == 0);
  check_warning(said_by(in_folder(folder.path())), {"Read-only file system"});
  CHECK(DiskCache(in_folder(folder.path())).load("a key"));
  CHECK(umount(path) == 0);
}

}  // namespace
}  // namespace quarry::detail
