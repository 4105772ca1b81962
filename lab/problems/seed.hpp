/// Seeds of random numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/problem_text.hpp"

namespace quarry::lab {

/// The greatest that a --seed flag takes.
inline constexpr std::int64_t most_seed = std::numeric_limits<std::int64_t>::max();

/// The seed of a --seed flag, or a fresh one where it is empty.
inline Result<std::uint64_t> read_seed(const std::string& text) {
  if (text.empty()) return std::uint64_t{fresh_seed()};
  const Result<std::int64_t> seed = parse_integer("--seed", text, 0, most_seed);
  if (!seed) return seed.status();
  return static_cast<std::uint64_t>(*seed);
}

}  // namespace quarry::lab
