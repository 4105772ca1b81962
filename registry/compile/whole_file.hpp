/// Files that are read and written whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::detail {

/// Writes a file that others see whole or not at all: under a temporary name beside it, synced, then renamed.
/// A file of this name, or the one that a symbolic link of this name leads to, is replaced at the end; it
/// keeps its permissions. Where anything fails it stays as it was, and nothing else stays behind. Fails with
/// file_error, naming the path and why.
Status write_whole_file(const std::string& path, std::span<const std::byte> bytes);

/// Follows symbolic links to the file behind them, which need not exist.
std::string file_behind(const std::string& path);

/// A regular file that is open for reading; its size is known before any of it is read.
class WholeFile {
 public:
  /// Fails with invalid_artifact, naming the path, where there is no such file, it cannot be read, or it is
  /// a folder or a device.
  static Result<WholeFile> open(const std::string& path);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&&) = delete;
  ~WholeFile();

  std::size_t size() const { return size_; }
  /// The first `count` bytes, or as many as there are. Fails as `open` does.
  Result<std::vector<std::byte>> read(std::size_t count) const;

 private:
  WholeFile(int file, std::size_t size, const std::string& path) : file_(file), size_(size), path_(path) {}

  int file_;
  std::size_t size_;
  std::string path_;
};

}  // namespace quarry::detail
