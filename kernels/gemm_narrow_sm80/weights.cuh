/// Weights as matrix instructions take them.
#pragma once

#include "arch/weights.hpp"
#include "common/element.cuh"

namespace quarry::gemm_narrow_sm80 {

/// Eight weights that are neighbours along K: what a lane has of a row, for two instructions, as pairs of
/// numbers times arch::weight_unit. Which of them an instruction takes for which K does not matter as long as
/// both operands agree.
template <DType wide, DType weights, int bits = bits_of(weights)>
struct Weights;

/// Pair i is of neighbours i and i + 4, which lie in a word of half bytes where two 16-bit numbers need them.
template <DType wide, DType weights>
struct Weights<wide, weights, 4> {
  using Stored = unsigned;
  using Word = typename HalfByteWord<weights>::Type;

  /// @param zero nothing of signed weights
  template <class... Zero>
  QUARRY_DEVICE static unsigned pair(unsigned stored, int i, const Zero&... zero) {
    return arch::half_byte_pair<Element<wide>>(Word{stored}, i, zero...);
  }
};

/// Pair i is of neighbours 2 i and 2 i + 1.
template <DType wide, DType weights>
struct Weights<wide, weights, 8> {
  using Stored = arch::Vector<unsigned, 2>;
  using Word = typename ByteWord<weights>::Type;

  template <class... Zero>
  QUARRY_DEVICE static unsigned pair(const Stored& stored, int i, const Zero&... zero) {
    return arch::byte_pair<Element<wide>>(Word{stored.v[i / 2] >> i % 2 * 16}, zero...);
  }
};

template <DType wide, DType weights>
inline constexpr float weight_unit = arch::weight_unit<Element<wide>, typename Weights<wide, weights>::Word>;

/// The left operands of two instructions: eight weights of row lane / 4 and of eight rows further on.
/// @param zero the zero points of the upper and of the lower row, nothing of signed weights
template <DType wide, DType weights, class Stored, class... Zero>
QUARRY_DEVICE void weight_fragments(const Stored& upper, const Stored& lower,
                                    arch::MatrixFragment (&fragments)[2], const Zero&... zero) {
  using W = Weights<wide, weights>;
  QUARRY_UNROLL
  for (int i = 0; i < 2; ++i) {
    fragments[i] = {W::pair(upper, 2 * i, zero.upper...), W::pair(lower, 2 * i, zero.lower...),
                    W::pair(upper, 2 * i + 1, zero.upper...), W::pair(lower, 2 * i + 1, zero.lower...)};
  }
}

/// The right operands of the same instructions: eight 16-bit neighbours of one row of A.
template <int weight_bits>
QUARRY_DEVICE void activation_fragments(const arch::Vector<unsigned, 4>& row,
                                        arch::FragmentB (&fragments)[2]) {
  QUARRY_UNROLL
  for (int i = 0; i < 2; ++i) {
    if constexpr (weight_bits == 8) {
      fragments[i] = {row.v[2 * i], row.v[2 * i + 1]};
      continue;
    }
    const unsigned near = row.v[i];
    const unsigned far = row.v[i + 2];
    fragments[i] = {(near & 0xffffu) | far << 16, near >> 16 | (far & 0xffff0000u)};
  }
}

}  // namespace quarry::gemm_narrow_sm80
