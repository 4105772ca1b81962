#include "registry/compile/disk_cache_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <system_error>

#include "basic/text.hpp"
#include "quarry/version.hpp"
#include "registry/compile/artifact_format.hpp"

namespace quarry::detail {
namespace {

using Folder = std::shared_ptr<const Descriptor>;

constexpr std::size_t digest_letters = 32;
constexpr std::string_view entry_suffix = ".artifact";
constexpr std::string_view set_aside_suffix = ".bad";
constexpr std::string_view temporary_suffix = ".tmp";

Status refused(const std::string& path, const std::string& why) {
  return {StatusCode::unsupported, quoted(path) + " " + why};
}

std::string of_user(uid_t user) { return "belongs to another user (" + std::to_string(user) + ")"; }

/// Makes the folder and those above it. 0, or errno.
int make_folders(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    // A folder above may exist and still not let us make it: what counts is the last one.
    const int error = mkdir(path.substr(0, slash).c_str(), 0700) == 0 ? 0 : errno;
    if (slash == std::string::npos) return error == EEXIST ? 0 : error;
  }
}

/// Whoever owns the link decides where it leads.
Status check_link(const std::string& path) {
  std::string link = path;
  while (link.size() > 1 && link.back() == '/') link.pop_back();
  struct stat status = {};
  if (lstat(link.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return {};
  if (status.st_uid == geteuid() || status.st_uid == 0) return {};
  return refused(path, "is a link that " + of_user(status.st_uid));
}

/// Of the folder that was opened, whatever becomes of its name.
Status check_folder(const std::string& path, const Descriptor& folder) {
  struct stat status = {};
  if (fstat(folder.number(), &status) != 0) return refused(path, "cannot be read: " + error_text(errno));
  if (status.st_uid != geteuid()) return refused(path, of_user(status.st_uid));
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return refused(path, "may be written by other users");
  return {};
}

/// A second 64-bit hash of a text, which has nothing in common with FNV-1a: a rotation in each step and a
/// last mix (splitmix64's).
std::uint64_t second_hash(std::string_view text) {
  std::uint64_t hash = 0x9e3779b97f4a7c15U ^ text.size();
  for (const char c : text) {
    hash = std::rotl(hash ^ (static_cast<unsigned char>(c) + 1) * 0xd6e8feb86659fd93U, 29) * 5 + 0x52dce729;
  }
  hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9U;
  hash = (hash ^ hash >> 27) * 0x94d049bb133111ebU;
  return hash ^ hash >> 31;
}

void append_hexadecimal(std::string& text, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
}

bool is_digest(std::string_view text) {
  return text.size() == digest_letters && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// What a name says; nothing where it is not one of ours.
std::optional<CacheFile> parse_name(std::string_view name) {
  CacheFile file{.name = std::string(name)};
  if (!is_digest(name.substr(0, digest_letters))) return std::nullopt;
  name.remove_prefix(digest_letters);
  if (!name.starts_with('-')) return std::nullopt;
  name.remove_prefix(1);
  if (name.ends_with(entry_suffix)) {
    name.remove_suffix(entry_suffix.size());
  } else if (name.ends_with(set_aside_suffix)) {
    file.kind = CacheFileKind::set_aside;
    name.remove_suffix(set_aside_suffix.size());
  } else if (name.ends_with(temporary_suffix)) {
    file.kind = CacheFileKind::temporary;
    name.remove_suffix(temporary_suffix.size());
  } else {
    return std::nullopt;
  }
  file.version = name;
  return file;
}

struct CloseListing {
  void operator()(DIR* listing) const { closedir(listing); }
};

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

std::string error_text(int error) { return std::generic_category().message(error); }

Result<Folder> open_cache_folder(const std::string& path, bool make) {
  const auto try_to_open = [&] { return Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); };
  Descriptor folder = try_to_open();
  if (!folder && errno == ENOENT) {
    if (!make) return Folder();
    if (const int error = make_folders(path); error != 0) {
      return refused(path, "cannot be made: " + error_text(error));
    }
    folder = try_to_open();
  }
  if (!folder)
    return refused(path, errno == ENOTDIR ? "is no folder" : "cannot be opened: " + error_text(errno));
  if (Status status = check_link(path); !status) return status;
  if (Status status = check_folder(path, folder); !status) return status;
  return Folder(std::make_shared<const Descriptor>(std::move(folder)));
}

std::string entry_name(std::string_view key) {
  std::string name;
  name.reserve(64);
  append_hexadecimal(name, checksum(std::as_bytes(std::span(key.data(), key.size()))));
  append_hexadecimal(name, second_hash(key));
  return name.append("-" QUARRY_VERSION).append(entry_suffix);
}

std::string set_aside_name(std::string_view entry_name) {
  return std::string(entry_name.substr(0, entry_name.size() - entry_suffix.size())).append(set_aside_suffix);
}

std::vector<CacheFile> list_cache_files(const Descriptor& folder) {
  std::vector<CacheFile> files;
  const int again = openat(folder.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return files;
  DIR* const opened = fdopendir(again);
  if (opened == nullptr) {
    close(again);
    return files;
  }
  const std::unique_ptr<DIR, CloseListing> listing(opened);
  while (const dirent* const found = readdir(opened)) {
    std::optional<CacheFile> file = parse_name(found->d_name);
    struct stat status = {};
    if (!file || fstatat(folder.number(), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    file->bytes = static_cast<std::uint64_t>(status.st_size);
    file->used = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
    files.push_back(*std::move(file));
  }
  return files;
}

}  // namespace quarry::detail
