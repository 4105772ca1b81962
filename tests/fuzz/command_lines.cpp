#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/harness_list.hpp"
#include "tools/command/common/commands.hpp"

namespace quarry::fuzz {
namespace {

namespace fs = std::filesystem;

/// Standard output, error and input of the process lead nowhere from here on; the sanitizers' output stays.
void silence() {
  static std::FILE* const nowhere = std::fopen("/dev/null", "w");
  static std::istringstream nothing;
  static std::ofstream none;
  stdout = nowhere;
  stderr = nowhere;
  std::cin.rdbuf(nothing.rdbuf());
  std::cout.rdbuf(none.rdbuf());
  std::cerr.rdbuf(none.rdbuf());
}

/// The words: those between newlines. A slash becomes an underscore, so that all files lie in the current
/// folder.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words = {"quarry"};
  std::string word;
  for (const char c : text) {
    if (c == '\n') {
      words.push_back(std::move(word));
      word.clear();
    } else if (c != '\0') {
      word += c == '/' ? '_' : c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

bool has_flag(const std::vector<std::string>& words, std::string_view flag) {
  return std::ranges::any_of(words, [flag](const std::string& word) { return word.starts_with(flag); });
}

/// Makes the numbers in a shape, or in the value of a flag, small: "4096x512" becomes "16x12".
void shrink(std::string& word) {
  std::string small;
  std::size_t digits = 0;
  for (const char c : word) {
    const bool digit = c >= '0' && c <= '9';
    digits = digit ? digits + 1 : 0;
    if (digits == 1 && c > '1') {
      small += '1';
    } else if (digits <= 2) {
      small += c;
    }
  }
  word = small;
}

/// Keeps a command from what takes more than a moment, from devices and from libraries. Nothing is left of
/// one that compiles.
void tame(std::vector<std::string>& words) {
  const auto has = [&words](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  if (has("emulate")) words.resize(1);
  std::erase_if(words, [](const std::string& word) { return word.starts_with("--cu"); });
  if (has("bench")) words.insert(words.end(), {"--cublaslt", "none"});
  if (has("verify") || (has("run") && !has_flag(words, "--on"))) {
    words.insert(words.end(), {"--on", "nowhere"});
  } else if (has("run")) {
    for (std::string& word : words) shrink(word);
  }
}

}  // namespace

void command_lines(Bytes input) {
  static const bool silent = (silence(), true);
  require(silent, "the command's output leads nowhere");
  std::vector<std::string> words = words_of(text_of(input));
  tame(words);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int exit = command::run_command(static_cast<int>(words.size()), pointers.data());
  require(exit >= 0 && exit <= 2, "the exit status is 0, 1 or 2");
  for (const fs::directory_entry& entry : fs::directory_iterator(sandbox())) fs::remove_all(entry.path());
}

}  // namespace quarry::fuzz
