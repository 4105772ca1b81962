/// Numbers of 4 and 8 bits as pairs of 16-bit numbers, which are exact. Zero points are taken off by
/// the instruction that converts.
#pragma once

#include "arch/ptx/number.hpp"

namespace quarry::arch {

/// What pairs made of a word count: whole numbers with 7 bits of mantissa are left with a factor, which is
/// exact.
template <class T, class Word>
inline constexpr float weight_unit = 1;
template <class Word>
inline constexpr float weight_unit<BF16, Word> = 0x1p-6F;
template <>
inline constexpr float weight_unit<BF16, E4M3x4> = 1;

/// The zero point of unsigned numbers, 0 to 255, as byte_pair and half_byte_pair take it.
template <class T>
QUARRY_DEVICE ZeroPoint pair_zero(unsigned zero);
/// The same of 0, a constant.
template <class T>
inline constexpr ZeroPoint no_pair_zero = {0x64006400u};
template <>
inline constexpr ZeroPoint no_pair_zero<BF16> = {0x80008000u};

/// What takes the place of a zero point for signed numbers, made unsigned ones by adding half of their range.
template <class T, int half>
inline constexpr ZeroPoint signed_zero = {no_pair_zero<T>.bits + half * 0x10001u};
template <>
inline constexpr ZeroPoint signed_zero<BF16, 8> = {0xbe00be00u};  // -8 2^-6
template <>
inline constexpr ZeroPoint signed_zero<BF16, 128> = {0xc000c000u};

/// The zero point as half_byte_rows takes it.
template <class T>
QUARRY_DEVICE ZeroPoint row_zero(unsigned zero);
template <class T>
inline constexpr ZeroPoint no_row_zero = {0xd400e400u};
template <>
inline constexpr ZeroPoint no_row_zero<BF16> = no_pair_zero<BF16>;
template <class T>
inline constexpr ZeroPoint signed_row_zero = {0xd480e408u};
template <>
inline constexpr ZeroPoint signed_row_zero<BF16> = signed_zero<BF16, 8>;

// 0x6400 is 1024 in f16, of which the lowest bits count ones: a number below 1024 becomes 1024 more than it
// is by putting it there. Of a signed number, inverting the highest bit makes an unsigned one that is greater
// by half of its range. In bf16 the bits of a number up to 255 alone are a subnormal one, or just above: the
// number times 2^-133.
template <>
QUARRY_DEVICE ZeroPoint pair_zero<F16>(unsigned zero) {
  return {zero * 0x10001u + no_pair_zero<F16>.bits};
}
template <>
QUARRY_DEVICE ZeroPoint pair_zero<BF16>(unsigned zero) {
  const float less = static_cast<float>(zero) * -weight_unit<BF16, U8x4>;
  return {pair_of<BF16>(less, less)};
}
template <>
QUARRY_DEVICE ZeroPoint row_zero<F16>(unsigned zero) {
  const auto number = static_cast<float>(zero);
  return {pair_of<F16>(-1024 - number, -64 - number)};
}
template <>
QUARRY_DEVICE ZeroPoint row_zero<BF16>(unsigned zero) {
  return pair_zero<BF16>(zero);
}

/// Unsigned numbers in the lowest bits of a word's halves; and what makes pairs of T.
template <class T>
struct LowBits;
template <>
struct LowBits<F16> {
  static constexpr unsigned beside = 0x64u;  ///< the byte above a number of a byte
  unsigned word;

  QUARRY_DEVICE unsigned less(ZeroPoint zero) const {
    unsigned pair;
    asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(pair) : "r"(word), "r"(zero.bits));
    return pair;
  }
  QUARRY_DEVICE unsigned of_f16(unsigned pair) const { return pair; }

  /// Numbers `i` and `i + 4` of a word of eight half bytes less their zero point. @param signs inverted in
  /// each
  QUARRY_DEVICE unsigned half_bytes(int i, unsigned signs, ZeroPoint zero) const {
    return LowBits{(word >> 4 * i & 0x000f000fu) ^ (beside * 0x01000100u | signs * 0x00010001u)}.less(zero);
  }
};
template <>
struct LowBits<BF16> {
  static constexpr unsigned beside = 0;
  unsigned word;

  QUARRY_DEVICE unsigned less(ZeroPoint zero) const {
    unsigned pair;
    asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(word), "r"(0x7f007f00u), "r"(zero.bits));
    return pair;
  }
  QUARRY_DEVICE unsigned of_f16(unsigned pair) const {
    return pair_of<BF16>(to_f32(F16{static_cast<unsigned short>(pair)}),
                         to_f32(F16{static_cast<unsigned short>(pair >> 16)}));
  }

  /// As LowBits<F16>'s. An odd number stays where it is, 16 times as high, and is multiplied by less: a shift
  /// serves four numbers. (numbers & mask) ^ signs is one instruction.
  QUARRY_DEVICE unsigned half_bytes(int i, unsigned signs, ZeroPoint zero) const {
    const unsigned mask = 0x000f000fu << 4 * (i % 2);
    unsigned bits, pair;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;"
        : "=r"(bits)
        : "r"(word >> 8 * (i / 2)), "r"(mask), "r"(signs * 0x00010001u << 4 * (i % 2)));
    asm("fma.rn.bf16x2 %0, %1, %2, %3;"
        : "=r"(pair)
        : "r"(bits), "r"(i % 2 == 0 ? 0x7f007f00u : 0x7d007d00u), "r"(zero.bits));
    return pair;
  }
};

/// What the two numbers of a pair are multiplied by that lie in a byte.
template <class T>
inline constexpr unsigned half_byte_factors = 0x2c003c00u;  // 1/16, 1
template <>
inline constexpr unsigned half_byte_factors<BF16> = 0x7d007f00u;  // 2^123, 2^127

/// The lower two of four bytes, the lowest one in the lower half of the pair, times weight_unit.
template <class T>
QUARRY_DEVICE unsigned byte_pair(U8x4 bytes, ZeroPoint zero) {
  LowBits<T> numbers;
  asm("prmt.b32 %0, %1, %2, 0x4140;"
      : "=r"(numbers.word)
      : "r"(bytes.bits), "r"(LowBits<T>::beside * 0x01010101u));
  return numbers.less(zero);
}
template <class T>
QUARRY_DEVICE unsigned byte_pair(S8x4 bytes) {
  return byte_pair<T>(U8x4{bytes.bits ^ 0x8080u}, signed_zero<T, 128>);
}

/// NaN stays NaN. From compute capability 8.9 on (PTX ISA, cvt).
template <class T>
QUARRY_DEVICE unsigned byte_pair(E4M3x4 bytes) {
  unsigned pair;
  asm("{\n\t.reg .b16 low, high;\n\t"
      "mov.b32 {low, high}, %1;\n\t"
      "cvt.rn.f16x2.e4m3x2 %0, low;\n\t}"
      : "=r"(pair)
      : "r"(bytes.bits));
  return LowBits<T>{}.of_f16(pair);
}

/// Numbers `i` and `i + 4` of eight half bytes (i from 0 to 3), number `i` in the lower half of the pair,
/// times weight_unit.
template <class T>
QUARRY_DEVICE unsigned half_byte_pair(U4x8 numbers, int i, ZeroPoint zero) {
  return LowBits<T>{numbers.bits}.half_bytes(i, 0, zero);
}
template <class T>
QUARRY_DEVICE unsigned half_byte_pair(S4x8 numbers, int i) {
  return LowBits<T>{numbers.bits}.half_bytes(i, 8, signed_zero<T, 8>);
}

/// What half_byte_rows<T> needs for numbers 2 `byte` and 2 `byte` + 1 of eight.
/// @param nothing 0, of which the assembler does not know it: it would make the factors, if they were a
/// constant, again for each use
template <class T>
QUARRY_DEVICE HalfByteLane half_byte_lane(int byte, unsigned nothing) {
  return {static_cast<unsigned>(byte) * 0x1111u + 0x4040u, half_byte_factors<T> + nothing};
}

/// A byte of `upper` and one of `lower`, twice: a pair's first number lies in the lowest bits of the lower
/// half, its second one 16 times as high in the upper half.
template <class T>
class HalfByteWords {
 public:
  QUARRY_DEVICE HalfByteWords(unsigned upper, unsigned lower, HalfByteLane lane)
      : words_{joined(upper, lower, lane.selector)}, factors_{lane.factors} {}

  /// @param signs inverted in each word
  QUARRY_DEVICE Vector<unsigned, 2> pairs(unsigned signs, ZeroPoint upper, ZeroPoint lower) const {
    return {pair(words_, signs, upper), pair(words_ >> 8, signs, lower)};
  }

 private:
  QUARRY_DEVICE unsigned joined(unsigned upper, unsigned lower, unsigned selector) const {
    unsigned words;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(words) : "r"(upper), "r"(lower), "r"(selector));
    return words;
  }
  /// From 1024 + x and 1024 + 16 x, or x 2^-133 and x 2^-129, to x less its zero point. The bits are chosen
  /// and inverted by one instruction: (words & 0x00f0000f) ^ other.
  QUARRY_DEVICE unsigned pair(unsigned words, unsigned signs, ZeroPoint zero) const {
    unsigned bits;
    asm("lop3.b32 %0, %1, %2, %3, 0x6a;"
        : "=r"(bits)
        : "r"(words), "r"(0x00f0000fu), "r"(LowBits<T>::beside * 0x01000100u ^ signs));
    return scaled(bits, zero);
  }
  QUARRY_DEVICE unsigned scaled(unsigned bits, ZeroPoint zero) const;

  unsigned words_;
  unsigned factors_;
};
template <>
QUARRY_DEVICE unsigned HalfByteWords<F16>::scaled(unsigned bits, ZeroPoint zero) const {
  unsigned pair;
  asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(bits), "r"(factors_), "r"(zero.bits));
  return pair;
}
template <>
QUARRY_DEVICE unsigned HalfByteWords<BF16>::scaled(unsigned bits, ZeroPoint zero) const {
  unsigned pair;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(bits), "r"(factors_), "r"(zero.bits));
  return pair;
}

/// These numbers of eight half bytes, of `upper` and of `lower`, each a pair of numbers of T times
/// weight_unit, less a zero point of their row.
template <class T>
QUARRY_DEVICE Vector<unsigned, 2> half_byte_rows(U4x8 upper, U4x8 lower, HalfByteLane lane,
                                                 ZeroPoint of_upper, ZeroPoint of_lower) {
  return HalfByteWords<T>(upper.bits, lower.bits, lane).pairs(0, of_upper, of_lower);
}
template <class T>
QUARRY_DEVICE Vector<unsigned, 2> half_byte_rows(S4x8 upper, S4x8 lower, HalfByteLane lane) {
  return HalfByteWords<T>(upper.bits, lower.bits, lane)
      .pairs(0x00800008u, signed_row_zero<T>, signed_row_zero<T>);
}

}  // namespace quarry::arch
