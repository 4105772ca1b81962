#include "registry/compile/disk_cache_settings.hpp"

#include <unistd.h>

#include <charconv>
#include <climits>
#include <limits>
#include <string_view>

#include "basic/text.hpp"

namespace quarry::detail {
namespace {

/// The current folder; empty where it was removed.
std::string current_folder() {
  char path[PATH_MAX];
  return getcwd(path, sizeof path) == nullptr ? "" : path;
}

Status no_folder(const char* why) { return {StatusCode::unsupported, why}; }

void find_folder(CacheSettings& settings, std::string_view own, std::string_view xdg, std::string_view home) {
  if (own.starts_with('/')) {
    settings.folder = own;
  } else if (!own.empty()) {
    const std::string current = current_folder();
    if (current.empty()) {
      settings.found = no_folder("QUARRY_CACHE_DIR is relative, and there is no current folder");
    } else {
      settings.folder = current + "/" + std::string(own);
    }
  } else if (xdg.starts_with('/')) {
    settings.folder = std::string(xdg) + "/quarry";
  } else if (home.starts_with('/')) {
    settings.folder = std::string(home) + "/.cache/quarry";
  } else {
    settings.found = no_folder("neither QUARRY_CACHE_DIR nor XDG_CACHE_HOME nor HOME is set to a path");
  }
}

void read_limit(CacheSettings& settings, std::string_view size) {
  if (size.empty()) return;
  std::uint64_t mebibytes = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), mebibytes);
  if (error == std::errc() && end == size.data() + size.size() &&
      mebibytes <= std::numeric_limits<std::uint64_t>::max() >> 20) {
    settings.limit = mebibytes << 20;
  } else {
    settings.complaint = "QUARRY_CACHE_SIZE is " + quoted(size) +
                         ", not a number of MiB: the cache is bounded by " +
                         std::to_string(default_cache_limit >> 20);
  }
}

}  // namespace

CacheSettings cache_settings(const std::function<const char*(const char*)>& variable) {
  const auto value = [&](const char* name) {
    const char* const text = variable(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  CacheSettings settings;
  find_folder(settings, value("QUARRY_CACHE_DIR"), value("XDG_CACHE_HOME"), value("HOME"));
  read_limit(settings, value("QUARRY_CACHE_SIZE"));
  return settings;
}

}  // namespace quarry::detail
