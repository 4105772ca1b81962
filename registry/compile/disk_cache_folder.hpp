/// The folder of the cache on disk: opened only where nobody else can put machine code into it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::detail {

/// An open file or folder, closed when it goes.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor();
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

/// Opens the folder, and where it is told to makes it first, for its owner alone, with all above it.
/// @return null where it does not exist and is not to be made. Fails where it cannot be made or opened, is no
/// folder, belongs to another user, also through a link, or may be written by others
Result<std::shared_ptr<const Descriptor>> open_cache_folder(const std::string& path, bool make);

/// What the system says of an errno.
std::string error_text(int error);

/// A file of the cache, by its name:
///   <digest>-<version>.artifact               an entry
///   <digest>-<version>.bad                    one that was set aside
///   <digest>-<version>.<process>.<number>.tmp one that is being written, or whose writer died
enum class CacheFileKind : std::uint8_t { entry, set_aside, temporary };

struct CacheFile {
  std::string name;
  CacheFileKind kind = CacheFileKind::entry;
  std::string version = {};
  std::uint64_t bytes = 0;
  std::int64_t used = 0;  ///< nanoseconds since 1970
};

/// The name of an entry: 128 bits of digest, and the version of this library, whose entries no other reads.
std::string entry_name(std::string_view key);
/// The name of an entry that is set aside.
std::string set_aside_name(std::string_view entry_name);

/// The files of the cache in the folder; whatever else lies there is left out.
std::vector<CacheFile> list_cache_files(const Descriptor& folder);

}  // namespace quarry::detail
