/// What the tests of the cache on disk share: folders of their own, artifacts, files, standard error.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "registry/compile/disk_cache.hpp"

namespace quarry::detail {

/// A new folder, which goes with its contents when this does.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "quarry_cache_XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// An artifact that is what its key says: its code is made of the key.
inline ArtifactData keyed_artifact(const std::string& key, std::size_t bytes = 300) {
  ArtifactData artifact;
  artifact.entry = "gemm_test_" + std::to_string(std::hash<std::string>()(key) % 1000);
  artifact.config = "Config{" + key + "}";
  artifact.compiler = "nvrtc 13.0";
  artifact.key = key;
  artifact.target = 90;
  artifact.resources = {.registers = 128, .spill_bytes = 8, .shared_memory = 4096, .code_bytes = bytes};
  std::seed_seq seeds(key.begin(), key.end());
  std::mt19937 random(seeds);
  artifact.owned.resize(bytes);
  for (std::byte& byte : artifact.owned) byte = static_cast<std::byte>(random());
  artifact.code = artifact.owned;
  return artifact;
}

/// Whether it is the artifact of this key, and whole.
inline bool is_of(const ArtifactData& artifact, const std::string& key) {
  return to_bytes(artifact) == to_bytes(keyed_artifact(key, artifact.code.size()));
}

inline CacheSettings in_folder(const std::string& folder, std::uint64_t limit = default_cache_limit) {
  return {.folder = folder, .found = {}, .limit = limit};
}

inline void write_file(const std::string& path, const std::vector<std::byte>& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<std::byte> file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

inline std::size_t files_ending(const std::string& folder, const std::string& end) {
  std::size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    count += file.path().string().ends_with(end) ? 1 : 0;
  return count;
}

/// Sets when a file was used: seconds from now.
inline void set_used(const std::string& path, int seconds) {
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(path, now + std::chrono::seconds(seconds));
}

/// What is written to standard error while this lives.
class StandardError {
 public:
  StandardError() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    std::fflush(stderr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  ~StandardError() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  std::string text() const {
    std::string text;
    char c = 0;
    for (off_t at = 0; pread(fileno(file_), &c, 1, at) == 1; ++at) text += c;
    return text;
  }

 private:
  std::FILE* file_;
  int before_;
};

}  // namespace quarry::detail
