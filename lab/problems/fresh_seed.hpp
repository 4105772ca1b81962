/// Where random choices begin when nobody says it.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string_view>

namespace quarry::lab {

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

/// A seed that a program did not have before, of 32 bits, since people copy it. With any text in the
/// environment variable QUARRY_SEED a process has the same seeds in every run: each call another.
inline std::uint32_t fresh_seed() {
  static std::atomic<std::uint64_t> calls = 0;
  const char* const text = std::getenv("QUARRY_SEED");
  if (text == nullptr || *text == '\0') return std::random_device()();
  return static_cast<std::uint32_t>(derived_seed(number_of(text), calls++));
}

}  // namespace quarry::lab
