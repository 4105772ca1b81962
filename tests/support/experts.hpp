/// A grouped GEMM of a few numbers that is computed by heart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "quarry/grouped_gemm.hpp"
#include "quarry/tensor.hpp"

namespace quarry::test {

using Floats = std::vector<float>;

inline TensorView vector_of(const Floats& data) {
  return TensorView::vector(data.data(), DType::f32, std::ssize(data));
}
inline TensorView rows_of(const Floats& data, std::initializer_list<std::int64_t> extents) {
  return TensorView::row_major(data.data(), DType::f32, extents);
}

/// Five tokens of one feature, three experts of two columns that multiply by 1 and 2, 3 and 4, 5 and 6. The
/// experts have 2, 0 and 2 tokens; the last token has none.
struct Experts {
  Floats tokens = {1, 2, 3, 4, 5};
  Floats weights = {1, 2, 3, 4, 5, 6};
  std::vector<std::int32_t> ends = {2, 2, 4};
  Floats out = Floats(10, -1);

  GroupedGemmArguments arguments() const {
    return {.a = rows_of(tokens, {5, 1}),
            .b = rows_of(weights, {3, 1, 2}),
            .out = rows_of(out, {5, 2}),
            .sizes = TensorView::vector(ends.data(), DType::s32, 3)};
  }
  static std::size_t expert_of(std::size_t token) { return token < 2 ? 0 : 2; }
  float sum(std::size_t token, std::size_t column) const {
    return tokens[token] * weights[2 * expert_of(token) + column];
  }
};

}  // namespace quarry::test
