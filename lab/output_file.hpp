/// Files that are written for the user: tables of times, pictures, pages. Host only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry::lab {

/// Replaces a file when the new one is there whole: where anything fails, the old one stays. A pipe or a
/// device takes the bytes as they come. Fails with file_error, naming the path and why.
Status write_file(const std::string& path, std::string_view text);

/// A file that grows. A limit of file sizes is an error, not the end of the program.
class GrowingFile {
 public:
  GrowingFile();
  ~GrowingFile();
  /// Makes the file, or empties it. Fails with file_error, naming the path and why, as `add` does.
  Status open(const std::string& path);
  /// Adds the text at once. @pre it is open
  Status add(std::string_view text);
  bool is_open() const { return file_ != nullptr; }

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace quarry::lab
