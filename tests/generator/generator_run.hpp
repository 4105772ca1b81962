/// Runs the generator as the build does, in a scratch folder.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace quarry::test {

/// A folder that is removed in the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int exit_code;  ///< -1 where a signal ended it
  std::string out;
  std::string error;
};

/// Runs quarry_generate with these words; what it prints goes through files in `scratch`.
Outcome run_generator(const std::filesystem::path& scratch, const std::vector<std::string>& words);

void write_file(const std::filesystem::path& file, const std::string& text);
std::string read_file(const std::filesystem::path& file);

/// Every file below a folder with its bytes, by relative path; empty where there is no folder.
std::map<std::string, std::string> read_folder(const std::filesystem::path& folder);

/// A folder of families like kernels/, made of valid little spaces, of which tests replace one.
class Spaces {
 public:
  explicit Spaces(const std::filesystem::path& folder);
  /// Replaces the space of gemm_sm80, of gemm_sm90.
  void set_sm80(const std::string& json) const;
  void set_sm90(const std::string& json) const;
  const std::filesystem::path& folder() const { return folder_; }

  /// A valid gemm_sm80 space of four configs.
  static const std::string small_sm80;
  /// A valid gemm_sm90 space of four configs and two entries.
  static const std::string small_sm90;

 private:
  std::filesystem::path folder_;
};

/// `text` with its first `from` replaced; the test is at fault where there is none.
std::string replaced(std::string text, const std::string& from, const std::string& to);

}  // namespace quarry::test
