/// GEMMs whose reference is compared with outputs that a test writes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "operations/common/host/element.hpp"
#include "operations/common/host/matrix.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

using RandomProblem = lab::OperandsOf<GemmArguments>;

inline constexpr Types f32_types = {DType::f32, DType::f32, DType::f32, DType::f32};

/// Writes the reference, rounded, as the output.
inline void write_reference(const lab::Reference& reference, const TensorView& out) {
  const host::Matrix m(out);
  std::size_t next = 0;
  for (std::int64_t entry = 0; entry < reference.outputs[0].matrices; ++entry) {
    for (const std::int64_t row : reference.outputs[0].rows) {
      for (std::int64_t column = 0; column < reference.outputs[0].columns; ++column) {
        host::write_element(m.type, const_cast<void*>(m.first(entry)), m.index(row, column),
                            reference.outputs[0].values[next++]);
      }
    }
  }
}

/// An MxNxK GEMM of packed row-major matrices with random values.
inline RandomProblem plain_problem(int m, int n, int k, std::uint64_t seed, const Types& types = f32_types) {
  GemmArguments shape{.a = TensorView::row_major(nullptr, types.a, {m, k}),
                      .b = TensorView::row_major(nullptr, types.b, {k, n}),
                      .out = TensorView::row_major(nullptr, types.out, {m, n}),
                      .accumulator = types.accumulator};
  Result<RandomProblem> problem = RandomProblem::make(shape, {.seed = seed});
  REQUIRE(problem);
  return *std::move(problem);
}

}  // namespace quarry::test
