/// Harnesses: functions that take any bytes and check that the library takes them well. They neither crash
/// nor hang, and what they check holds. A fuzzer (fuzzer.cpp) feeds them what it makes up, every build the
/// kept inputs (replay.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry::fuzz {

using Bytes = std::span<const std::uint8_t>;

/// One harness. `run` aborts, with a message on standard error, where a check fails.
struct Harness {
  std::string_view name;
  void (*run)(Bytes input);
};

/// All of them.
std::span<const Harness> harnesses();

/// The harness of a name; null if no harness has it.
const Harness* find_harness(std::string_view name);

/// Makes the process one that fuzzing cannot harm with: no device is seen, nothing is compiled, the cache and
/// the current folder are a temporary folder that goes when the process ends. To be called first; relative
/// paths lead elsewhere from then on.
void enter_sandbox();

/// The temporary folder of this process.
const char* sandbox();

/// Aborts with a message unless `holds`.
void require(bool holds, std::string_view what);

/// Requires of a failure that it has a message for people: valid UTF-8 without control characters, of so many
/// lines at most. An ok status passes.
void check_message(const Status& status, int lines = 1);

/// The bytes as text.
inline std::string_view text_of(Bytes input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

}  // namespace quarry::fuzz
