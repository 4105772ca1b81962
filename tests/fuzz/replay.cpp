/// Feeds files to a harness, without a fuzzer: quarry_fuzz_replay HARNESS FILE|FOLDER... A folder stands for
/// the files in it; one that is not there, for none. `--list` prints the harnesses.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      if (fs::exists(path)) files.push_back(path);
      continue;
    }
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  }
  for (fs::path& file : files) file = fs::absolute(file);
  std::ranges::sort(files);
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words == std::vector<std::string>{"--list"}) {
    for (const quarry::fuzz::Harness& harness : quarry::fuzz::harnesses())
      std::printf("%s\n", std::string(harness.name).c_str());
    return 0;
  }
  const quarry::fuzz::Harness* const harness = words.empty() ? nullptr : quarry::fuzz::find_harness(words[0]);
  if (harness == nullptr) {
    std::fputs("usage: quarry_fuzz_replay HARNESS FILE|FOLDER..., or --list\n", stderr);
    return 2;
  }
  const std::vector<fs::path> files = files_of({words.begin() + 1, words.end()});
  if (files.empty()) {
    std::fputs("no file to replay\n", stderr);
    return 2;
  }
  quarry::fuzz::enter_sandbox();
  for (const fs::path& file : files) {
    std::fprintf(stderr, "%s\n", file.c_str());
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto* const first = reinterpret_cast<const std::uint8_t*>(text.data());
    const std::vector<std::uint8_t> exact(first, first + text.size());  // no byte behind the end
    harness->run(exact);
  }
  std::fprintf(stderr, "%zu inputs replayed\n", files.size());
  return 0;
}
