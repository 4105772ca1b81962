#include "tests/kernels/arch/results.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace quarry::test {
namespace {

/// The most words that are kept themselves; of what is longer there are so many hashes.
constexpr std::size_t most_words = 64;
constexpr std::size_t stretches = 16;

std::size_t stretch_begin(std::size_t words, std::size_t i) { return words * i / stretches; }

/// FNV-1a of 64 bits, over words.
std::uint64_t hash(const Words& words, std::size_t begin, std::size_t end) {
  std::uint64_t state = 0xcbf29ce484222325U;
  for (std::size_t i = begin; i < end; ++i) {
    for (int byte = 0; byte < 4; ++byte) {
      state = (state ^ (words[i] >> 8 * byte & 0xffU)) * 0x100000001b3U;
    }
  }
  return state;
}

std::string hex(std::uint64_t x, bool is_hash) {
  char text[20];
  std::snprintf(text, sizeof text, is_hash ? "%016llx" : "%08llx", static_cast<unsigned long long>(x));
  return text;
}

/// Which words of a result that is kept as hashes are not as they were.
std::string changed_stretches(const Recorded& kept, const Recorded& now) {
  std::string text;
  for (std::size_t i = 0; i < stretches; ++i) {
    if (kept.values[i] == now.values[i]) continue;
    text += (text.empty() ? "words " : ", ") + std::to_string(stretch_begin(kept.words, i)) + " to " +
            std::to_string(stretch_begin(kept.words, i + 1) - 1);
  }
  return text.empty() ? "" : text + " of " + std::to_string(kept.words) + " are not what the GPU gave";
}

/// Reads the line that begins a probe: "probe NAME inputs HASH hashes|words WORDS".
bool read_heading(const std::string& line, std::string& name, Recorded& recorded) {
  std::istringstream in(line);
  std::string probe, inputs, kind, rest;
  if (!(in >> probe >> name >> inputs >> std::hex >> recorded.inputs_hash >> kind >> std::dec)) return false;
  if (!(in >> recorded.words) || in >> rest || probe != "probe" || inputs != "inputs") return false;
  recorded.hashed = kind == "hashes";
  return recorded.hashed || kind == "words";
}

bool read_values(const std::string& line, Recorded& recorded) {
  std::istringstream in(line);
  std::uint64_t value = 0;
  while (in >> std::hex >> value) recorded.values.push_back(value);
  return in.eof();
}

bool complete(const Recorded& recorded) {
  return recorded.values.size() == (recorded.hashed ? stretches : recorded.words);
}

}  // namespace

Recorded record(const Probe& probe, const Words& inputs, const Words& result) {
  Recorded kept;
  kept.inputs_hash = hash(inputs, 0, inputs.size());
  kept.words = result.size();
  kept.hashed = probe.comparison.exact() && result.size() > most_words;
  const Words words = with_one_nan(probe.comparison, result);
  if (kept.hashed) {
    for (std::size_t i = 0; i < stretches; ++i) {
      kept.values.push_back(hash(words, stretch_begin(words.size(), i), stretch_begin(words.size(), i + 1)));
    }
  } else {
    kept.values.assign(words.begin(), words.end());
  }
  return kept;
}

std::string check(const Probe& probe, const Words& inputs, const Words& result, const Table& table) {
  const std::string advice = ": record again on a GPU";
  const auto found = table.results.find(probe.name());
  if (found == table.results.end()) return "no result of a GPU is recorded" + advice;
  const Recorded& kept = found->second;
  const Recorded now = record(probe, inputs, result);
  if (kept.inputs_hash != now.inputs_hash) return "the inputs are not those of the recorded result" + advice;
  if (kept.words != now.words || kept.hashed != now.hashed) {
    return "the result has another size or comparison than the recorded one" + advice;
  }
  if (kept.hashed) return changed_stretches(kept, now);
  Words expected;
  for (const std::uint64_t value : kept.values) expected.push_back(static_cast<std::uint32_t>(value));
  return difference(probe.comparison, expected, result).text;
}

std::string to_text(const Table& table) {
  std::string text = "# " + table.heading + "\n";
  for (const auto& [name, recorded] : table.results) {
    text += "probe " + name + " inputs " + hex(recorded.inputs_hash, true) +
            (recorded.hashed ? " hashes " : " words ") + std::to_string(recorded.words) + "\n";
    const std::size_t in_line = recorded.hashed ? 8 : 16;
    for (std::size_t i = 0; i < recorded.values.size(); ++i) {
      text += hex(recorded.values[i], recorded.hashed);
      text += i % in_line + 1 == in_line || i + 1 == recorded.values.size() ? '\n' : ' ';
    }
  }
  return text;
}

Table table_of(const std::string& text, std::string& fault) {
  Table table;
  fault.clear();
  std::istringstream in(text);
  std::string line;
  Recorded* last = nullptr;
  int number = 0;
  const auto wrong = [&](const char* what) {
    if (fault.empty()) fault = "line " + std::to_string(number) + ": " + what;
  };
  while (std::getline(in, line) && fault.empty()) {
    ++number;
    if (number == 1) {
      if (!line.starts_with("# ")) wrong("the heading is missing");
      table.heading = line.substr(std::min<std::size_t>(2, line.size()));
    } else if (line.starts_with("probe ")) {
      if (last != nullptr && !complete(*last)) wrong("the probe before has too few or too many values");
      std::string name;
      Recorded recorded;
      if (!read_heading(line, name, recorded)) wrong("this is no heading of a probe");
      const auto [at, is_new] = table.results.try_emplace(name, recorded);
      if (!is_new) wrong("this probe stands here twice");
      last = &at->second;
    } else if (last == nullptr || !read_values(line, *last)) {
      wrong("these are no values of a probe");
    }
  }
  if (number == 0) fault = "the table is empty";
  if (last != nullptr && !complete(*last)) wrong("the last probe has too few or too many values");
  return table;
}

}  // namespace quarry::test
