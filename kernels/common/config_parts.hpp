/// The parts that the configs of all GEMM families are made of. Structural types, so that a config can be a
/// template argument; plain constexpr C++ with our own headers only, shared by host and device.
#pragma once

#include "quarry/types.hpp"

namespace quarry {

/// Element types of a GEMM's operands.
struct Types {
  DType a;
  DType b;
  DType accumulator;
  DType out;
  friend constexpr bool operator==(const Types&, const Types&) = default;
};

/// The type that sums leave the main loop in, that partial sums of split-K are kept and added in: f64 for
/// f64, s32 for s32, f32 otherwise.
constexpr DType partial_type(DType accumulator) {
  return bits_of(accumulator) >= 32 ? accumulator : DType::f32;
}

/// The type that the epilogue computes in, which alpha and beta are of: the type of partial sums, but f32
/// where s32 sums become anything else than s32.
constexpr DType compute_type(DType accumulator, DType out) {
  const DType partial = partial_type(accumulator);
  return is_integer(partial) && out != partial ? DType::f32 : partial;
}

/// Whether sums of whole numbers become outputs of this type: s8, u8, s32 and f32. The same types may be
/// interleaved, but of operands bytes alone.
constexpr bool takes_integer_sums(DType out) {
  return is_integer(out) ? bytes_of(out) > 0 : out == DType::f32;
}

/// Most blocks of a cluster that every device with clusters can run (CUDA C++ programming guide).
inline constexpr int portable_cluster = 8;

/// Whether one operand is of bytes, which become numbers of the other's type before they are multiplied.
constexpr bool is_mixed(const Types& t) { return is_byte(t.a) != is_byte(t.b); }

/// Whether operands of a byte and a 16-bit type are summed in f32, to an output of the 16-bit type or f32.
constexpr bool has_mixed_types(const Types& t) {
  const DType wide = is_byte(t.a) ? t.b : t.a;
  return is_mixed(t) && is_half(wide) && t.accumulator == DType::f32 &&
         (t.out == wide || t.out == DType::f32);
}

/// Whether elements are weights that become numbers of a 16-bit type beside it: whole numbers of 4 or 8 bits,
/// and e4m3.
constexpr bool is_weight(DType type) { return is_half_byte(type) || is_byte(type) || type == DType::e4m3; }

/// Whether operands of weights and a 16-bit type are summed in f32, to an output of the 16-bit type or f32.
constexpr bool has_weight_types(const Types& t) {
  const DType wide = is_weight(t.a) ? t.b : t.a;
  return is_weight(t.a) != is_weight(t.b) && is_half(wide) && t.accumulator == DType::f32 &&
         (t.out == wide || t.out == DType::f32);
}

/// Whether these weights are unsigned, so that they may have zero points.
constexpr bool has_unsigned_weights(const Types& t) {
  return has_weight_types(t) && (is_unsigned(t.a) || is_unsigned(t.b));
}

/// Whether operands of one 16-bit type are summed in f32, to an output of that type or f32, or are f16 like
/// their sums and the output.
constexpr bool has_half_types(const Types& t) {
  const bool f32_sum = t.accumulator == DType::f32 && (t.out == t.a || t.out == DType::f32);
  const bool all_f16 = t.a == DType::f16 && t.accumulator == t.a && t.out == t.a;
  return is_half(t.a) && t.a == t.b && (f32_sum || all_f16);
}

/// Whether operands of 8-bit floating-point types are summed in f32, to any floating-point output of 32 bits
/// at most.
constexpr bool has_fp8_types(const Types& t) {
  return is_fp8(t.a) && is_fp8(t.b) && t.accumulator == DType::f32 && is_floating(t.out) &&
         bits_of(t.out) <= 32;
}

/// What products of such operands are summed in unless somebody says it.
constexpr DType default_accumulator(DType a, DType b) {
  if (bits_of(a) > 32 || bits_of(b) > 32) return DType::f64;
  return is_integer(a) && is_integer(b) ? DType::s32 : DType::f32;
}

/// How sums become outputs, which is else chosen at run time.
enum class EpilogueKind : unsigned char {
  standard,    ///< whatever the sums
  fast_clamp,  ///< whole sums of at most 2^22, either sign, become f32, and these bytes, by additions
};

/// The longest K whose products of s8 add up to 2^22 at most, either sign: 256 times 2^7 times 2^7.
inline constexpr int fast_clamp_most_k = 256;

/// Memory layouts of a GEMM's operands.
struct Layouts {
  Layout a;
  Layout b;
  Layout out;
  friend constexpr bool operator==(const Layouts&, const Layouts&) = default;
};

/// Whether one of them is interleaved.
constexpr bool is_interleaved(const Layouts& l) {
  return is_interleaved(l.a) || is_interleaved(l.b) || is_interleaved(l.out);
}

/// Output tile of a block (m, n) and the K extent of one stage (k), in elements.
struct Tile {
  int m;
  int n;
  int k;
  friend constexpr bool operator==(const Tile&, const Tile&) = default;
};

/// Warps of a block along M, N and K.
struct Warps {
  int m;
  int n;
  int k;
  friend constexpr bool operator==(const Warps&, const Warps&) = default;
};

/// Alignment of pointer, leading dimension and batch stride that a kernel may assume, in elements.
struct Alignment {
  int a;
  int b;
  friend constexpr bool operator==(const Alignment&, const Alignment&) = default;
};

/// The transposed problem: out = a b column-major is out^T = b^T a^T row-major, over the same memory.
constexpr Types exchanged(Types t) { return {t.b, t.a, t.accumulator, t.out}; }
constexpr Layouts exchanged(Layouts l) { return {transposed(l.b), transposed(l.a), transposed(l.out)}; }
constexpr Tile exchanged(Tile t) { return {t.n, t.m, t.k}; }
constexpr Warps exchanged(Warps w) { return {w.n, w.m, w.k}; }
constexpr Alignment exchanged(Alignment a) { return {a.b, a.a}; }

}  // namespace quarry
