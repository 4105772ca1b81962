/// The file by which a benchmark of many problems that was stopped goes on: a line of JSON for each problem
/// that ended.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/bench/result.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// What results depend on besides the problem, by name, in the words of the command line: {"--top", "16"},
/// {"device", "NVIDIA H200"}. Results of one record have one setup.
using BenchSetup = std::vector<std::pair<std::string, std::string>>;

/// The first line names the setup. Lines are added, never changed. Those that cannot be read, such as the
/// last one of a process that was killed, are passed over: their problems are measured again. Safe from one
/// thread at a time.
class BenchRecord {
 public:
  /// No file: nothing is known, nothing is kept.
  BenchRecord() = default;

  /// Reads the file, if there is one, and writes nothing. Fails with parse_error where it cannot be read, is
  /// no such record, or one of a later version of Quarry.
  static Result<BenchRecord> read(const std::string& path);

  /// Ok where the record was made with these parts of a setup, or is new; otherwise invalid_arguments, with
  /// the first one that differs.
  Status check(const BenchSetup& parts) const;

  /// The value of a part of the setup; empty where the record has none.
  std::string part(const std::string& name) const;

  /// The results of the problems, as far as they are recorded. Of a problem that is there several times, the
  /// first has the first result.
  std::vector<std::optional<BenchResult>> results_of(const std::vector<Problem>& problems) const;

  /// Makes the record ready for more results of this setup. If the file does not exist, it is created. Fails
  /// as `check` does, and with file_error where the file cannot be written.
  Status open(const BenchSetup& setup);

  /// Writes a result, at once. @pre open was called, or there is no file
  Status add(const BenchResult& result);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Status write_line(const std::string& line);

  std::string path_;
  /// Absent: the file is new or empty.
  std::optional<BenchSetup> setup_;
  /// By the problem's command.
  std::map<std::string, std::vector<BenchResult>> results_;
  /// The last line has its newline.
  bool is_whole_ = true;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace quarry::lab
