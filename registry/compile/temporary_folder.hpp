/// A folder that only this process knows, gone in the end.
#pragma once

#include <string>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry::detail {

class TemporaryFolder {
 public:
  /// Makes one in TMPDIR or /tmp that only this user may enter; see status().
  TemporaryFolder();
  /// Removes it with all that is in it.
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// Why there is none.
  const Status& status() const { return status_; }
  const std::string& path() const { return path_; }
  /// Writes a file, and the folders that its name asks for.
  Status write(std::string_view name, std::string_view text) const;

 private:
  std::string path_;
  Status status_;
};

}  // namespace quarry::detail
