/// Whole numbers of 4 and 8 bits as 16-bit numbers; see arch/ptx/weights.hpp.
#pragma once

#include "arch/emulated/number.hpp"

namespace quarry::arch {

template <class T, class Word>
inline constexpr float weight_unit = 1;
template <class Word>
inline constexpr float weight_unit<BF16, Word> = 0x1p-6F;
template <>
inline constexpr float weight_unit<BF16, E4M3x4> = 1;

// Here a zero point is the number itself, in the two forms with a mark: one is not taken for the other.
inline constexpr unsigned pair_mark = 0x5000u;
inline constexpr unsigned row_mark = 0xa000u;

template <class T>
QUARRY_DEVICE ZeroPoint pair_zero(unsigned zero);
template <>
QUARRY_DEVICE ZeroPoint pair_zero<F16>(unsigned zero) {
  return {pair_mark | zero};
}
template <>
QUARRY_DEVICE ZeroPoint pair_zero<BF16>(unsigned zero) {
  return {pair_mark | zero};
}
template <class T>
inline constexpr ZeroPoint no_pair_zero = {pair_mark};
template <class T>
QUARRY_DEVICE ZeroPoint row_zero(unsigned zero);
template <>
QUARRY_DEVICE ZeroPoint row_zero<F16>(unsigned zero) {
  return {row_mark | zero};
}
template <>
QUARRY_DEVICE ZeroPoint row_zero<BF16>(unsigned zero) {
  return {row_mark | zero};
}
template <class T>
inline constexpr ZeroPoint no_row_zero = {row_mark};

/// Two whole numbers, exact in T, times weight_unit.
template <class T>
unsigned pair_of_numbers(int low, int high) {
  constexpr float unit = weight_unit<T, U8x4>;
  return pair_of<T>(static_cast<float>(low) * unit, static_cast<float>(high) * unit);
}

/// NaN, where a zero point has another form.
template <class T>
unsigned pair_less(int low, int high, ZeroPoint zero, unsigned mark) {
  const int less = static_cast<int>(zero.bits & 0xffU);
  return (zero.bits & 0xff00U) == mark ? pair_of_numbers<T>(low - less, high - less) : 0x7fff7fffU;
}

/// Number `at` of eight half bytes.
inline int half_byte(S4x8 numbers, int at) {
  return static_cast<int>((numbers.bits >> 4 * at & 15U) ^ 8U) - 8;
}
inline int half_byte(U4x8 numbers, int at) { return static_cast<int>(numbers.bits >> 4 * at & 15U); }

template <class T>
QUARRY_DEVICE unsigned byte_pair(U8x4 bytes, ZeroPoint zero) {
  return pair_less<T>(static_cast<unsigned char>(bytes.bits), static_cast<unsigned char>(bytes.bits >> 8),
                      zero, pair_mark);
}
template <class T>
QUARRY_DEVICE unsigned byte_pair(S8x4 bytes) {
  return pair_of_numbers<T>(static_cast<signed char>(bytes.bits), static_cast<signed char>(bytes.bits >> 8));
}

template <class T>
QUARRY_DEVICE unsigned byte_pair(E4M3x4 bytes) {
  return pair_of<T>(host::e4m3_to_f32(static_cast<unsigned char>(bytes.bits)),
                    host::e4m3_to_f32(static_cast<unsigned char>(bytes.bits >> 8)));
}

template <class T>
QUARRY_DEVICE unsigned half_byte_pair(U4x8 numbers, int i, ZeroPoint zero) {
  return pair_less<T>(half_byte(numbers, i), half_byte(numbers, i + 4), zero, pair_mark);
}
template <class T>
QUARRY_DEVICE unsigned half_byte_pair(S4x8 numbers, int i) {
  return pair_of_numbers<T>(half_byte(numbers, i), half_byte(numbers, i + 4));
}

template <class T>
QUARRY_DEVICE HalfByteLane half_byte_lane(int byte, unsigned nothing) {
  return {static_cast<unsigned>(byte), nothing};
}

template <class T>
QUARRY_DEVICE Vector<unsigned, 2> half_byte_rows(U4x8 upper, U4x8 lower, HalfByteLane lane,
                                                 ZeroPoint of_upper, ZeroPoint of_lower) {
  const int first = 2 * static_cast<int>(lane.selector);
  const auto pair = [first](U4x8 x, ZeroPoint zero) {
    return pair_less<T>(half_byte(x, first), half_byte(x, first + 1), zero, row_mark);
  };
  return {pair(upper, of_upper), pair(lower, of_lower)};
}
template <class T>
QUARRY_DEVICE Vector<unsigned, 2> half_byte_rows(S4x8 upper, S4x8 lower, HalfByteLane lane) {
  const int first = 2 * static_cast<int>(lane.selector);
  const auto pair = [first](S4x8 x) {
    return pair_of_numbers<T>(half_byte(x, first), half_byte(x, first + 1));
  };
  return {pair(upper), pair(lower)};
}

}  // namespace quarry::arch
