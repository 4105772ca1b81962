/// Seeds of random numbers.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "lab/problems/problem_text.hpp"

namespace quarry::lab {

/// The seed of a --seed flag, or a fresh one where it is empty. Short, since people copy it.
inline Result<std::uint64_t> read_seed(const std::string& text) {
  if (text.empty()) return static_cast<std::uint64_t>(std::random_device()());
  const Result<std::int64_t> seed =
      parse_integer("--seed", text, 0, std::numeric_limits<std::int64_t>::max());
  if (!seed) return seed.status();
  return static_cast<std::uint64_t>(*seed);
}

/// 32 well mixed bits of a seed and a number (the finalizer of SplitMix64): a seed of its own for each
/// number.
constexpr std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t x = seed + 0x9e3779b97f4a7c15U * (number + 1);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
  x = (x ^ x >> 27) * 0x94d049bb133111ebU;
  return (x ^ x >> 31) >> 32;
}

/// A number for a text (FNV-1a), the same on every machine.
constexpr std::uint64_t number_of(std::string_view text) {
  std::uint64_t number = 0xcbf29ce484222325U;
  for (const char c : text) number = (number ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return number;
}

}  // namespace quarry::lab
