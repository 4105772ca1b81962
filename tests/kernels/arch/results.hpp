/// Results of probes on a GPU, kept as text: recorded.txt. Results that must be equal are kept as hashes
/// where they are long.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/kernels/arch/probe.hpp"

namespace quarry::test {

/// What is kept of a probe's result.
struct Recorded {
  std::uint64_t inputs_hash = 0;
  std::size_t words = 0;
  bool hashed = false;
  /// The words, or a hash of each of `stretches` equal parts of them.
  std::vector<std::uint64_t> values;

  bool operator==(const Recorded&) const = default;
};

/// All results, with a heading that says where and by which command they were made.
struct Table {
  std::string heading;
  std::map<std::string, Recorded> results;  // by the probe's name

  bool operator==(const Table&) const = default;
};

/// The heading's words for a table that no GPU made: what the emulator must not be compared with.
inline constexpr const char* made_by_emulator = "on the emulator";

/// What to keep of a result (`out`, then counters).
Recorded record(const Probe& probe, const Words& inputs, const Words& result);

/// What is wrong with a result; "" where nothing is.
std::string check(const Probe& probe, const Words& inputs, const Words& result, const Table& table);

std::string to_text(const Table& table);

/// Reads a table. @param fault what is wrong with the text, with its line; "" where nothing is
Table table_of(const std::string& text, std::string& fault);

}  // namespace quarry::test
