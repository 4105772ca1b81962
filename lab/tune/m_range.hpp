/// Ranges of M, and which values of one are measured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::lab {

/// How often two divides M, as a set of numbers: bit i stands for i times, the last bit for that and more.
/// The alignment of a leading dimension of M elements goes by it.
using TwosOfM = std::uint8_t;
inline constexpr int twos_bits = 8;
inline constexpr TwosOfM any_twos = 0xff;

/// The bit of an M.
TwosOfM twos_of(std::int64_t m);

/// Values of M from low to high: all of them, or those with some numbers of twos.
struct MRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
  TwosOfM twos = any_twos;

  bool has(std::int64_t m) const { return low <= m && m <= high && (twos_of(m) & twos) != 0; }
};

/// "1..8192", 1 <= low < high. Fails with parse_error.
Result<MRange> parse_m_range(std::string_view text);
/// "1..8192", or a part of it: "1..8192 (multiples of 8)", "1..8192 (odd)".
std::string to_string(const MRange& range);
/// Which values those are, "odd multiples of 2, multiples of 8"; of all: "all".
std::string twos_text(TwosOfM twos);

/// The value of the range that is nearest to an M, the greater one of two; absent where it has none.
std::optional<std::int64_t> nearest_in(const MRange& range, std::int64_t m);

/// An M to measure, and the M above which the measurement stands.
struct Probe {
  std::int64_t m = 0;
  std::int64_t above = 0;
};

/// The next M to measure in a range; absent where it is done. First powers of two, or the nearest values that
/// the range has, then between neighbours that have different winners, until those are a sixteenth apart, or
/// 128; above 256 also between neighbours that have the same one, until those are an eighth apart. Probes of
/// all values stand for the whole range.
/// @param winners of each M that was measured, as texts that tell kernels apart
std::optional<Probe> next_probe(const MRange& range, const std::map<std::int64_t, std::string>& winners);

/// Values of M that are worth compiling for ahead: those that next_probe asks for at first, and those that it
/// may ask for next, between neighbours, in its order.
std::vector<std::int64_t> likely_probes(const MRange& range);

/// How many values of M next_probe asks for at first.
std::size_t first_probes(const MRange& range);

}  // namespace quarry::lab
