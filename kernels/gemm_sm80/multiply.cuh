/// What differs by types between kernels: how operands are read, become what the matrix instruction takes,
/// are multiplied, and are summed.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/warp_fragments.cuh"
#include "gemm_sm80/config.hpp"

namespace quarry::gemm_sm80 {

/// The right operand of one instruction, out of what is read for two.
QUARRY_DEVICE arch::FragmentB half_of(const arch::MatrixFragment& pair, int half) {
  return {pair.v[2 * half], pair.v[2 * half + 1]};
}

/// The sums of one instruction in f16 or f32.
template <DType accumulator>
struct SumOf {
  using Type = arch::AccumulatorF32;
};
template <>
struct SumOf<DType::f16> {
  using Type = arch::AccumulatorF16;
};

/// Operands that an instruction takes as matrix loads bring them: what a lane reads at a time where there are
/// no such loads is an element.
template <DType type_a, DType type_b>
struct AsRead {
  using StoredA = Element<type_a>;
  using StoredB = Element<type_b>;
  static constexpr int parts = 1;
  using Part = arch::MatrixFragment;
  using A = arch::MatrixFragment;
  using B = arch::FragmentB;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) { return read[0]; }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) { return half_of(read[0], half); }
};

/// How operands of these types are multiplied.
///
/// `StoredA` and `StoredB` are what a lane reads at a time where there are no matrix loads, and `parts`
/// counts the reads of a step. `a` makes the left operand of an instruction of what readers gave for 16 rows,
/// `b` the right one of either half of 16 columns. `add` multiplies, and adds to a `Sum`.
///
/// As they are: f16 and bf16.
template <DType type_a, DType type_b, DType accumulator, Math math, Instruction instruction>
struct Multiply : AsRead<type_a, type_b> {
  using typename AsRead<type_a, type_b>::A;
  using typename AsRead<type_a, type_b>::B;
  using Sum = typename SumOf<accumulator>::Type;
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) { arch::mma<Element<type_a>>(sum, a, b); }
};

/// The same by two instructions of half the K.
template <DType type, DType accumulator>
struct Multiply<type, type, accumulator, Math::exact, Instruction::m16n8k8> : AsRead<type, type> {
  using typename AsRead<type, type>::A;
  using typename AsRead<type, type>::B;
  using Sum = typename SumOf<accumulator>::Type;
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) {
    arch::mma_k8<Element<type>>(sum, arch::FragmentA8{a.v[0], a.v[1]}, b.v[0]);
    arch::mma_k8<Element<type>>(sum, arch::FragmentA8{a.v[2], a.v[3]}, b.v[1]);
  }
};

/// Bytes, as they are.
template <DType type_a, DType type_b>
requires(is_byte(type_a) &&
         is_byte(type_b)) struct Multiply<type_a, type_b, DType::s32, Math::exact, Instruction::usual>
    : AsRead<type_a, type_b> {
  using typename AsRead<type_a, type_b>::A;
  using typename AsRead<type_a, type_b>::B;
  using Sum = arch::AccumulatorS32;
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) {
    arch::mma<typename ByteWord<type_a>::Type, typename ByteWord<type_b>::Type>(sum, a, b);
  }
};

/// Pairs of bytes, the lower ones of words, as pairs of a 16-bit type.
template <DType wide, DType bytes, int count>
QUARRY_DEVICE arch::Vector<unsigned, count> widened(const arch::Vector<unsigned, count>& pairs) {
  arch::Vector<unsigned, count> wider;
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) {
    wider.v[i] = arch::low_pair_of<Element<wide>>(typename ByteWord<bytes>::Type{pairs.v[i]});
  }
  return wider;
}

/// What a lane reads of one operand where the other one's type is different: of bytes pairs, as single ones
/// would bring it four neighbours, where the instruction wants two.
template <DType type>
struct StoredBesideOther {
  using Type = Element<type>;
};
template <DType type>
requires(is_byte(type)) struct StoredBesideOther<type> {
  using Type = BytePair;
};

/// A 16-bit type and bytes, which become of that type in registers.
template <DType type_a, DType type_b>
requires(is_byte(type_a) !=
         is_byte(type_b)) struct Multiply<type_a, type_b, DType::f32, Math::exact, Instruction::usual> {
  using StoredA = typename StoredBesideOther<type_a>::Type;
  using StoredB = typename StoredBesideOther<type_b>::Type;
  using Sum = arch::AccumulatorF32;
  static constexpr int parts = 1;
  static constexpr DType wide = is_byte(type_a) ? type_b : type_a;
  using Part = arch::MatrixFragment;
  using A = arch::MatrixFragment;
  using B = arch::FragmentB;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) {
    if constexpr (is_byte(type_a))
      return widened<wide, type_a>(read[0]);
    else
      return read[0];
  }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) {
    if constexpr (is_byte(type_b))
      return widened<wide, type_b>(half_of(read[0], half));
    else
      return half_of(read[0], half);
  }
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) { arch::mma<Element<wide>>(sum, a, b); }
};

/// The words of a fragment rounded, each by itself.
template <int count>
QUARRY_DEVICE arch::Vector<unsigned, count> rounded_to_tf32(const arch::Vector<unsigned, count>& words) {
  arch::Vector<unsigned, count> rounded;
  QUARRY_UNROLL
  for (int i = 0; i < count; ++i) {
    rounded.v[i] = __builtin_bit_cast(unsigned, arch::to_tf32(__builtin_bit_cast(float, words.v[i])));
  }
  return rounded;
}

/// f32 rounded to 11 bits.
template <>
struct Multiply<DType::f32, DType::f32, DType::f32, Math::fast_tf32, Instruction::usual> {
  using StoredA = float;
  using StoredB = float;
  using Sum = arch::AccumulatorF32;
  static constexpr int parts = 1;
  using Part = arch::MatrixFragment;
  using A = arch::MatrixFragment;
  using B = arch::FragmentB;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) { return rounded_to_tf32(read[0]); }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) {
    return rounded_to_tf32(half_of(read[0], half));
  }
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) { arch::mma<arch::TF32>(sum, a, b); }
};

/// f32 as the sum of two numbers of 11 bits each; of their four products the product of the small ones is
/// left out.
template <>
struct Multiply<DType::f32, DType::f32, DType::f32, Math::fast_f32, Instruction::usual> {
  template <class Words>
  struct Split {
    Words big;
    Words small;
  };
  using StoredA = float;
  using StoredB = float;
  using Sum = arch::AccumulatorF32;
  static constexpr int parts = 1;
  using Part = arch::MatrixFragment;
  using A = Split<arch::MatrixFragment>;
  using B = Split<arch::FragmentB>;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) { return split(read[0]); }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) { return split(half_of(read[0], half)); }

  /// The matrix unit truncates its sums. Over a long K that errs to one side, so each step's sum begins at 0
  /// and is added by an instruction that rounds.
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) {
    arch::AccumulatorF32 step = {};
    arch::mma<arch::TF32>(step, a.small, b.big);
    arch::mma<arch::TF32>(step, a.big, b.small);
    arch::mma<arch::TF32>(step, a.big, b.big);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) sum.v[i] += step.v[i];
  }

 private:
  template <int count>
  QUARRY_DEVICE static Split<arch::Vector<unsigned, count>> split(
      const arch::Vector<unsigned, count>& words) {
    Split<arch::Vector<unsigned, count>> both = {rounded_to_tf32(words), {}};
    QUARRY_UNROLL
    for (int i = 0; i < count; ++i) {
      const float rest = __builtin_bit_cast(float, words.v[i]) - __builtin_bit_cast(float, both.big.v[i]);
      both.small.v[i] = __builtin_bit_cast(unsigned, arch::to_tf32(rest));
    }
    return both;
  }
};

/// f32 rounded to a 16-bit type, in registers. An instruction multiplies 16 along K, which two reads bring;
/// in which order does not matter, as long as both operands have the same.
template <class Narrow>
struct MultiplyNarrowed {
  using StoredA = float;
  using StoredB = float;
  using Sum = arch::AccumulatorF32;
  static constexpr int parts = 2;
  using Part = arch::MatrixFragment;
  using A = arch::MatrixFragment;
  using B = arch::FragmentB;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) {
    return {pair(read[0], 0, 2), pair(read[0], 1, 3), pair(read[1], 0, 2), pair(read[1], 1, 3)};
  }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) {
    return {pair(read[0], 2 * half, 2 * half + 1), pair(read[1], 2 * half, 2 * half + 1)};
  }
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) { arch::mma<Narrow>(sum, a, b); }

 private:
  QUARRY_DEVICE static unsigned pair(const Part& read, int low, int high) {
    return arch::pair_of<Narrow>(__builtin_bit_cast(float, read.v[low]),
                                 __builtin_bit_cast(float, read.v[high]));
  }
};
template <>
struct Multiply<DType::f32, DType::f32, DType::f32, Math::fast_f16, Instruction::usual>
    : MultiplyNarrowed<arch::F16> {};
template <>
struct Multiply<DType::f32, DType::f32, DType::f32, Math::fast_bf16, Instruction::usual>
    : MultiplyNarrowed<arch::BF16> {};

template <>
struct Multiply<DType::f64, DType::f64, DType::f64, Math::exact, Instruction::usual> {
  using StoredA = double;
  using StoredB = double;
  using Sum = arch::AccumulatorF64;
  static constexpr int parts = 1;
  using Part = arch::FragmentF64;
  using A = arch::FragmentF64;
  using B = double;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) { return read[0]; }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) { return read[0].v[half]; }
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) { arch::mma(sum, a, b); }
};

/// f64 by an instruction of 4 `reads` along K.
template <int reads>
struct MultiplyLongF64 {
  using StoredA = double;
  using StoredB = double;
  using Sum = arch::AccumulatorF64;
  static constexpr int parts = reads;
  using Part = arch::FragmentF64;
  using A = arch::Vector<double, 2 * parts>;
  using B = arch::Vector<double, parts>;

  QUARRY_DEVICE static A a(const Part (&read)[parts]) {
    A a;
    QUARRY_UNROLL
    for (int i = 0; i < 2 * parts; ++i) a.v[i] = read[i / 2].v[i % 2];
    return a;
  }
  QUARRY_DEVICE static B b(const Part (&read)[parts], int half) {
    B b;
    QUARRY_UNROLL
    for (int i = 0; i < parts; ++i) b.v[i] = read[i].v[half];
    return b;
  }
  QUARRY_DEVICE static void add(Sum& sum, const A& a, const B& b) {
    if constexpr (parts == 4)
      arch::mma_k16(sum, a, b);
    else
      arch::mma_k8(sum, a, b);
  }
};
template <>
struct Multiply<DType::f64, DType::f64, DType::f64, Math::exact, Instruction::m16n8k8> : MultiplyLongF64<2> {
};
template <>
struct Multiply<DType::f64, DType::f64, DType::f64, Math::exact, Instruction::m16n8k16> : MultiplyLongF64<4> {
};

template <Config config>
using MultiplyOf =
    Multiply<config.types.a, config.types.b, config.types.accumulator, config.math, config.instruction>;

}  // namespace quarry::gemm_sm80
