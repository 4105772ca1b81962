/// Weights of half a byte as matrix instructions take them.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"

namespace quarry::gemm_narrow_sm80 {

/// A lane has eight neighbours along K of a row, for two instructions. Which of them an instruction takes for
/// which K does not matter as long as both operands agree: pair i is of neighbours i and i + 4, which lie in
/// a word of half bytes where two 16-bit numbers need them.
///
/// The left operands of two instructions: eight weights of row lane / 4 and of eight rows further on.
template <DType wide, DType weights>
QUARRY_DEVICE void weight_fragments(unsigned upper, unsigned lower, arch::MatrixFragment (&fragments)[2]) {
  using Wide = Element<wide>;
  using Word = typename HalfByteWord<weights>::Type;
  QUARRY_UNROLL
  for (int i = 0; i < 2; ++i) {
    fragments[i] = {arch::half_byte_pair<Wide>(Word{upper}, 2 * i),
                    arch::half_byte_pair<Wide>(Word{lower}, 2 * i),
                    arch::half_byte_pair<Wide>(Word{upper}, 2 * i + 1),
                    arch::half_byte_pair<Wide>(Word{lower}, 2 * i + 1)};
  }
}

/// The right operands of the same instructions: eight 16-bit neighbours of one row of A.
QUARRY_DEVICE void activation_fragments(const arch::Vector<unsigned, 4>& row,
                                        arch::FragmentB (&fragments)[2]) {
  QUARRY_UNROLL
  for (int i = 0; i < 2; ++i) {
    const unsigned near = row.v[i];
    const unsigned far = row.v[i + 2];
    fragments[i] = {(near & 0xffffu) | far << 16, near >> 16 | (far & 0xffff0000u)};
  }
}

}  // namespace quarry::gemm_narrow_sm80
