/// Types of the hardware seam that its two implementations share.
#pragma once

namespace quarry::arch {

/// N neighbouring values that move together: aligned to their size, up to the 16 bytes of the widest access.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) Vector {
  T v[N];
};

/// A byte of the block's shared memory. Not a pointer: only the functions of memory.hpp, copy_async.hpp and
/// matrix.hpp reach what lies there.
struct SharedAddress {
  unsigned value;
  friend constexpr SharedAddress operator+(SharedAddress base, int bytes) {
    return {base.value + static_cast<unsigned>(bytes)};
  }
  friend constexpr bool operator==(SharedAddress, SharedAddress) = default;
};

/// IEEE half precision as stored; arithmetic happens in f32.
struct F16 {
  unsigned short bits;
};

/// bfloat16 as stored; arithmetic happens in f32.
struct BF16 {
  unsigned short bits;
};

/// 8-bit floating point as stored: 4 bits of exponent and 3 of mantissa, no infinity (E4M3), or 5 and 2
/// (E5M2).
struct E4M3 {
  unsigned char bits;
};
struct E5M2 {
  unsigned char bits;
};

/// What a matrix instruction multiplies of f32 operands: the upper 19 of their bits.
struct TF32 {};

/// Four neighbouring s8 in a word, the first one in its lowest bits.
struct S8x4 {
  unsigned bits;
};

/// The same of u8.
struct U8x4 {
  unsigned bits;
};

/// The same of E4M3.
struct E4M3x4 {
  unsigned bits;
};

/// Eight neighbouring s4 in a word, the first one in its lowest bits.
struct S4x8 {
  unsigned bits;
};

/// The same of u4.
struct U4x8 {
  unsigned bits;
};

/// A zero point of unsigned numbers in the form that converts them: see arch/weights.hpp.
struct ZeroPoint {
  unsigned bits;
};

/// Which byte half_byte_rows takes of words, and what it multiplies by: the same for a whole loop.
struct HalfByteLane {
  unsigned selector;
  unsigned factors;
};

/// A lane's part of a 16 x 16 matrix of 16-bit elements, four 8 x 8 matrices of one register each: the left
/// operand of an m16n8k16 instruction, or the right operands of two. Of 32-bit elements, a 16 x 8 matrix in
/// four 8 x 4 ones (m16n8k8): row lane / 4 and column lane % 4 of each. Of bytes, a 16 x 32 matrix in four
/// 8 x 16 ones (m16n8k32): row lane / 4 and four columns from 4 (lane % 4) on of each.
using MatrixFragment = Vector<unsigned, 4>;

/// A lane's part of the 16 x 8 left operand of an m16n8k8 instruction of 16-bit elements: the first half of
/// the above.
using FragmentA8 = Vector<unsigned, 2>;

/// A lane's part of the 16 x 8 right operand of an m16n8k16 instruction.
using FragmentB = Vector<unsigned, 2>;

/// A lane's part of the 16 x 8 sums of an m16n8k16 instruction: columns 2t and 2t + 1 (t = lane % 4) of row
/// lane / 4, then of row lane / 4 + 8.
struct AccumulatorF32 {
  float v[4];
};

/// The same with s32 sums, of m16n8k32.
struct AccumulatorS32 {
  int v[4];
};

/// The same with f64 sums, of m8n8k4 instructions for rows 0 to 7 and 8 to 15.
struct AccumulatorF64 {
  double v[4];
};

/// A lane's part of the 16 x 4 left operand of those: column lane % 4 of rows lane / 4 and lane / 4 + 8.
using FragmentF64 = Vector<double, 2>;

/// The same of m16n8k8 of f64, two of those one after another along K; and of its 8 x 8 right operand, rows
/// lane % 4 and lane % 4 + 4 of column lane / 4.
using FragmentA8F64 = Vector<double, 4>;
using FragmentB8F64 = Vector<double, 2>;

/// The same of m16n8k16 of f64, four of those one after another along K; and of its 16 x 8 right operand,
/// rows lane % 4 + 4 i of column lane / 4.
using WideFragmentA = Vector<double, 8>;
using WideFragmentB = Vector<double, 4>;

/// The same with f16 sums, a pair of columns in each word.
struct AccumulatorF16 {
  unsigned v[2];
};

}  // namespace quarry::arch
