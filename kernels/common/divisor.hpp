/// Division by a number that the host knows, without the hardware's dozens of steps. Plain constexpr C++,
/// shared by host and device.
#pragma once

namespace quarry {

/// A number that indices below 2^31 are divided by, with what makes of that a multiplication and a shift
/// (Granlund, Montgomery: Division by invariant integers using multiplication, 1994).
struct Divisor {
  int size;
  unsigned multiplier;
  unsigned shift;
};

/// @pre size >= 1
constexpr Divisor divisor_of(int size) {
  unsigned log2 = 0;
  while (1LL << log2 < size) ++log2;
  const auto by = static_cast<unsigned long long>(size);
  const unsigned long long power = 1ULL << (31 + log2);
  return {size, static_cast<unsigned>((power + by - 1) / by), 31 + log2};
}

/// index / divisor and the remainder. @pre index >= 0
struct Divided {
  int quotient;
  int rest;
};
constexpr Divided divide(int index, const Divisor& by) {
  const auto product = static_cast<unsigned long long>(static_cast<unsigned>(index)) * by.multiplier;
  const int quotient = static_cast<int>(product >> by.shift);
  return {quotient, index - quotient * by.size};
}

}  // namespace quarry
