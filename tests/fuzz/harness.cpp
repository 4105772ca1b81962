#include "fuzz/harness.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "fuzz/harness_list.hpp"

namespace quarry::fuzz {
namespace {

namespace fs = std::filesystem;

/// A new folder, which goes with its contents when the process ends in order.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = (fs::temp_directory_path() / "quarry_fuzz_XXXXXX").string();
    require(mkdtemp(path_.data()) != nullptr, "no temporary folder could be made");
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const TemporaryFolder& folder() {
  static const TemporaryFolder made;
  return made;
}

/// Bytes of the UTF-8 sequence at the start of a text that is not empty; 0 if it does not start with one.
std::size_t sequence(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead >= 0xF5 || bytes > text.size()) return 0;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; };
  if (bytes < 2) return bytes;
  return std::ranges::all_of(text.substr(1, bytes - 1), continues) ? bytes : 0;
}

}  // namespace

std::span<const Harness> harnesses() { return all_harnesses; }

const Harness* find_harness(std::string_view name) {
  const auto found = std::ranges::find(harnesses(), name, &Harness::name);
  return found == harnesses().end() ? nullptr : &*found;
}

const char* sandbox() { return folder().path().c_str(); }

void enter_sandbox() {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("QUARRY_COMPILER", "off", 1);
  setenv("HOME", sandbox(), 1);
  setenv("QUARRY_CACHE_DIR", (std::string(sandbox()) + "/cache").c_str(), 1);
  setenv("QUARRY_TUNING", "off", 1);
  fs::current_path(sandbox());
  for (const char* name :
       {"QUARRY_PACKS", "XDG_CACHE_HOME", "QUARRY_CACHE_SIZE", "XDG_CONFIG_HOME", "QUARRY_LOG_PROBLEMS"})
    unsetenv(name);
}

void require(bool holds, std::string_view what) {
  if (holds) return;
  // Not through `stderr`, which a harness may have silenced.
  dprintf(STDERR_FILENO, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

void check_message(const Status& status, int lines) {
  if (status) return;
  const std::string message = status.message();
  require(!message.empty(), "a failure has a message");
  int newlines = 0;
  for (std::string_view left = message; !left.empty();) {
    const std::size_t bytes = sequence(left);
    const auto first = static_cast<unsigned char>(left[0]);
    newlines += first == '\n' ? 1 : 0;
    const bool control = (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    if (bytes == 0 || control || newlines >= lines) {
      require(false, "a message is " + std::to_string(lines) + " lines of UTF-8 at most: " + message);
    }
    left.remove_prefix(bytes);
  }
}

}  // namespace quarry::fuzz
