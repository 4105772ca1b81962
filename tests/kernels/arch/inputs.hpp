/// Inputs of the probes: random ones, made without the standard library's distributions so that they are the
/// same everywhere, and the special values of each type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace quarry::test {

using Words = std::vector<std::uint32_t>;

/// Random numbers (SplitMix64).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15U;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9U;
    x = (x ^ x >> 27) * 0x94d049bb133111ebU;
    return x ^ x >> 31;
  }
  std::uint32_t word() { return static_cast<std::uint32_t>(next() >> 32); }
  /// From 0 to n - 1. @pre n > 0
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>((next() >> 32) % n); }

 private:
  std::uint64_t state_;
};

/// Words of no meaning.
Words random_words(Random& random, std::size_t count);

/// All patterns of 16 bits, two in a word.
Words all_halves();

/// f32 to round to f16: the middle of each two neighbours and the f32 on both sides of it, then specials.
Words floats_around_f16(Random& random);
/// The same for bf16, one side of each middle.
Words floats_around_bf16(Random& random);
/// f32 to round to 8-bit floating point: all that have three bits of mantissa, the middle of each two
/// neighbours, and the f32 on both sides of them, then specials; an even number.
Words floats_around_fp8(Random& random);

/// f32 to round to s8 or u8: the middle of each two neighbours and the f32 on both sides of it, and numbers
/// that no byte holds; a multiple of four.
Words floats_around_bytes(Random& random);

/// Triples for a dot product of four bytes: words of a, of b, and a sum. All of the ends of both types, then
/// random ones.
Words triples_of_bytes(Random& random);

/// All bytes in the lower two of a word, each beside some others; random bits above.
Words pairs_of_bytes(Random& random);

/// Triples for a fused multiply-add: all of special values, sums that cancel except for the product's last
/// bits, and random bits.
Words triples_f32(Random& random);
Words triples_f64(Random& random);

/// 256 arguments of 2^x: special values, whole numbers, and some from where the result is a normal number.
Words exponents_f32(Random& random);

/// Numbers near whole ones and halves, near the ends of 32 bits, and of every magnitude; as many of f64.
Words floats_around_integers(Random& random);
Words doubles_around_integers(Random& random);
/// Arguments of tanh.
Words tanh_arguments_f32(Random& random);
/// 256 arguments of 1 / x: special values, and some of every magnitude.
Words divisors_f32(Random& random);
/// 128 arguments of a function of f64: special values, and some between `limit` and -`limit`.
template <int limit>
Words arguments_f64(Random& random);

/// Types of the operands and sums of a matrix multiplication.
enum class MmaTypes : std::uint8_t { f16_f32, bf16_f32, f16_f16, tf32_f32 };

/// Whole numbers from -8 to 8, so that every product and sum is exact.
template <MmaTypes types>
Words mma_integers(Random& random);
/// Numbers of many magnitudes. All products and sums that meet have one sign, so that none cancels.
template <MmaTypes types>
Words mma_floats(Random& random);
/// Operands and sums too small to be normal numbers; every sum is exact.
template <MmaTypes types>
Words mma_subnormals(Random& random);
/// Zeros with signs, for A and the sums.
template <MmaTypes types>
Words mma_zeros(Random& random);
/// Infinities and NaNs here and there among whole numbers.
template <MmaTypes types>
Words mma_specials(Random& random);

/// The f64 of a thread: of A, of B, and sums.
inline constexpr std::size_t numbers_f64 = 2 + 1 + 4;
inline constexpr std::size_t numbers_f64_k8 = 4 + 2 + 4;
inline constexpr std::size_t numbers_f64_k16 = 8 + 4 + 4;

/// So many f64 of each thread: whole numbers, or numbers between 1 and 2.
template <std::size_t numbers>
Words mma_f64_integers(Random& random);
template <std::size_t numbers>
Words mma_f64_floats(Random& random);

/// Of each thread four words of A and two of B, four bytes each, and four sums: in half of the warps small
/// ones, in the others close to the ends of s32, so that some saturate.
Words mma_bytes(Random& random);

/// Multiplications of a matrix probe: one a warp.
inline constexpr std::size_t mma_warps = 8;

}  // namespace quarry::test
