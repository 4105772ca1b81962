/// Asks the registry about drawn problems and prints digests of all that it answers, so that two states of
/// the sources can be compared: rankings with controls, predicted times and workspaces, refusals with their
/// messages, and what single kernels say. It uses the public API alone, so that one source of it goes with
/// both. What is compared must come from one compiler, on machines that have a GPU both, or none.
///
/// Usage: quarry_golden [--count N] [--seed S] [--digest | --problem I | --summary]
///   (nothing)     one digest of all problems
///   --digest      a digest of the registry's names, of each 100 problems, and of all
///   --problem I   one problem and its answers in full
///   --summary     how often each status came, so that one sees that the problems are worth asking
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "text.hpp"

namespace {

using namespace quarry;
using namespace quarry::golden;

constexpr std::uint64_t block_size = 100;

/// FNV-1a.
class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  unsigned long long value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325U;
};

struct Command {
  std::uint64_t count = 20000;
  std::uint64_t seed = 1;
  std::uint64_t problem = 0;
  bool shows_digests = false;
  bool shows_problem = false;
  bool shows_summary = false;
};

/// Whether the command line could be read.
bool parse(int argc, char** argv, Command& command) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const auto number = [&](std::uint64_t& value) {
      if (++i == argc) return false;
      value = std::strtoull(argv[i], nullptr, 10);
      return true;
    };
    if (word == "--digest") {
      command.shows_digests = true;
    } else if (word == "--summary") {
      command.shows_summary = true;
    } else if (word == "--count") {
      if (!number(command.count)) return false;
    } else if (word == "--seed") {
      if (!number(command.seed)) return false;
    } else if (word == "--problem") {
      command.shows_problem = true;
      if (!number(command.problem)) return false;
    } else {
      return false;
    }
  }
  return true;
}

std::string text_of(const Choices& choices, std::uint64_t seed, std::uint64_t index) {
  Problem problem = draw(choices, seed, index);
  return problem_text(problem) + answers_text(problem);
}

void print_digests(const Choices& choices, const Command& command) {
  Digest all;
  for (const Kernel& kernel : choices.kernels) all.add(std::string(kernel.name()) + "\n");
  if (command.shows_digests) std::printf("registry %zu %016llx\n", choices.kernels.size(), all.value());
  for (std::uint64_t first = 0; first < command.count; first += block_size) {
    Digest block;
    const std::uint64_t end = std::min(first + block_size, command.count);
    for (std::uint64_t i = first; i < end; ++i) block.add(text_of(choices, command.seed, i));
    all.add(std::to_string(block.value()));
    if (!command.shows_digests) continue;
    std::printf("%06llu-%06llu %016llx\n", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(end - 1), block.value());
  }
  std::printf("all %016llx\n", all.value());
}

/// Counts lines of statuses, without the numbers in them.
void print_summary(const Choices& choices, const Command& command) {
  std::map<std::string, int> lines;
  for (std::uint64_t i = 0; i < command.count; ++i) {
    const std::string text = text_of(choices, command.seed, i);
    for (const std::string_view word : {"status ", "supports "}) {
      for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
        std::string line = text.substr(at, text.find('\n', at) - at);
        line.erase(std::remove_if(line.begin(), line.end(), [](char c) { return c >= '0' && c <= '9'; }),
                   line.end());
        ++lines[line];
      }
    }
  }
  for (const auto& [line, count] : lines) std::printf("%7d %s\n", count, line.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  Command command;
  if (!parse(argc, argv, command)) {
    std::fputs("usage: quarry_golden [--count N] [--seed S] [--digest | --problem I | --summary]\n", stderr);
    return 2;
  }
  const Choices choices = choices_of_registry();
  if (command.shows_problem) {
    std::fputs(text_of(choices, command.seed, command.problem).c_str(), stdout);
  } else if (command.shows_summary) {
    print_summary(choices, command);
  } else {
    print_digests(choices, command);
  }
  return 0;
}
