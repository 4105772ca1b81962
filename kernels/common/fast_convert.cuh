/// Conversions by additions, for numbers of limited size. The instructions for them are slow: a
/// multiprocessor of 8.0 or 9.0 converts 16 numbers a cycle and adds 64 or more (CUDA C++ Programming Guide,
/// throughput of native arithmetic instructions).
#pragma once

#include "arch/arch.hpp"

namespace quarry {

// 1.5 * 2^23. Between 2^23 and 2^24, floats are whole numbers and their bits count by ones: so adding a whole
// number to the bits adds it to the float, and adding a fraction to the float rounds it to a whole number.
inline constexpr float counting_float = 12582912.0F;
inline constexpr int counting_bits = 0x4b400000;

/// A whole number of at most 2^22, either sign, as f32; exact.
QUARRY_DEVICE float small_to_float(int x) {
  return __builtin_bit_cast(float, counting_bits + x) - counting_float;
}

/// As arch::to_s8. What is too large for counting is far beyond the bounds, and stays so: floats above 0 have
/// the order of their bits, and the bits of those below are negative.
QUARRY_DEVICE signed char fast_to_s8(float x) {
  const float number = x == x ? x : 0;
  const int bits = __builtin_bit_cast(int, number + counting_float);
  const int low = bits < counting_bits - 128 ? counting_bits - 128 : bits;
  const int clamped = low > counting_bits + 127 ? counting_bits + 127 : low;
  return static_cast<signed char>(clamped & 0xff);
}

}  // namespace quarry
