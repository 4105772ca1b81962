/// Rounding to 8-bit floating point by whole numbers, for targets that have no instruction for it.
#pragma once

#include "arch/ptx/entry.hpp"

namespace quarry::arch {

/// The code of E4M3 (3 bits of mantissa, exponents from 1 - 7) or E5M2 (2 and 1 - 15) nearest to x, ties to
/// even. `largest` is the code of the greatest finite number: numbers that are too large, and infinities,
/// become it; NaN becomes 0x7f.
template <int mantissa_bits, unsigned bias, unsigned largest>
QUARRY_DEVICE unsigned code_of_8_bits(float x) {
  constexpr int shift = 23 - mantissa_bits;
  constexpr unsigned smallest_normal = (128 - bias) << 23;
  // The last bit of this number is worth as much as a subnormal's last bit, so that the addition rounds to
  // it.
  constexpr unsigned rounder = smallest_normal + (static_cast<unsigned>(shift) << 23);
  const auto bits = __builtin_bit_cast(unsigned, x);
  const unsigned magnitude = bits & 0x7fffffffU;
  const unsigned sign = (bits ^ magnitude) >> 24;
  if (magnitude > 0x7f800000U) return 0x7f;
  const float raised = __builtin_bit_cast(float, magnitude) + __builtin_bit_cast(float, rounder);
  const unsigned subnormal = __builtin_bit_cast(unsigned, raised) - rounder;
  const unsigned rebiased = magnitude - ((127 - bias) << 23);
  const unsigned normal = (rebiased + ((1U << (shift - 1)) - 1) + (rebiased >> shift & 1U)) >> shift;
  const unsigned rounded = magnitude < smallest_normal ? subnormal : normal;
  return sign | (rounded < largest ? rounded : largest);
}

}  // namespace quarry::arch
