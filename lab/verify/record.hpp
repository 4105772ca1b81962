/// The file by which a verification that was stopped goes on: one line for each kernel that passed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lab/trials/trial.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// Lines `host 3 NAME`: the place, how many problems, the kernel; `host 1 NAME bias_row` where it passed the
/// problem of that path alone. Lines are added, never changed. The last one of a process that was killed may
/// be cut, and is taken away. Safe from one thread at a time.
class VerifyRecord {
 public:
  /// No file: nothing is known, nothing is kept.
  VerifyRecord() = default;

  /// Opens or makes the file. Only lines of this place and of this path alone, where it is not empty, count.
  /// Fails with file_error when it cannot be written, and with parse_error, with nothing changed, when it
  /// cannot be read, does not end or is another file than a record.
  static Result<VerifyRecord> open(const std::string& path, Place place, const std::string& only);

  /// Whether the kernel passed there with at least so many problems.
  bool passed(std::string_view name, std::int64_t problems) const {
    const auto found = passed_.find(std::string(name));
    return found != passed_.end() && found->second >= problems;
  }

  /// Notes that it did with so many, at once.
  Status add(std::string_view name, std::int64_t problems);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  /// The most problems that a kernel passed with.
  std::unordered_map<std::string, std::int64_t> passed_;
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
  Place place_ = Place::host;
  /// The path, where there is only one.
  std::string only_;
};

}  // namespace quarry::lab
