/// Products that are asked about as a whole: for operations whose tensors are no plain matrices, so that
/// kernels go by more than gemm::Question says.
#pragma once

#include <array>
#include <cstdint>

#include "gemm/problem.hpp"
#include "operations/gemm/operation.hpp"

namespace quarry::detail::gemm {

/// All of a product but the addresses, of which it has the alignment. Without padding: compared and hashed as
/// bytes.
struct WholeQuestion {
  /// Strides along rows, columns and the batch; then what else is known of access, as bits.
  using Walk = std::array<std::uint64_t, 4>;

  std::array<Walk, 4> operands = {};  ///< a, b, c, out
  std::array<Walk, 4> epilogue = {};  ///< scale, residual, aux; the bias has an address alone
  std::array<Walk, 2> scales = {};    ///< of a and b, along lines, K and the batch
  /// alpha, beta, the bounds of the clamp and the slope of leaky_relu.
  std::array<std::uint64_t, 5> numbers = {};
  Question plain;
  std::uint32_t flags = 0;
};

WholeQuestion whole_question(const GemmProblem& problem);

}  // namespace quarry::detail::gemm
