/// Which of cuBLASLt's epilogues a problem has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/bench/cublaslt_api.hpp"
#include "operations/gemm/lab/problem.hpp"

namespace quarry::lab::gemm {

/// What cuBLASLt does with the sums: activation(alpha * sum + beta * c + bias), and what the activation is
/// applied to is written to aux. The activation is one of its words; its GELU is gelu_tanh.
struct CublasLtEpilogue {
  CublasLtEpilogueFunction function = lt_epilogue_default;
  /// What it reads as its C: C, the residual, or none.
  Operand c = Operand::none;
  double beta = 0;

  bool has_bias() const { return (function & lt_epilogue_bias) != 0; }
  bool has_aux() const { return (function & lt_epilogue_aux) != 0; }
  /// "bias, gelu_tanh, aux"; "plain" where there is nothing.
  std::string text() const;
};

/// The same epilogue in cuBLASLt's words. Fails with unsupported where it has no such; the message says what
/// it lacks: "no residual behind an activation".
Result<CublasLtEpilogue> cublaslt_epilogue(const Problem& problem);

/// The problem, then what can be timed where cuBLASLt has no such epilogue: with C alone, and with alpha
/// alone.
std::vector<Problem> simpler_problems(const Problem& problem);

/// How the matrix that cuBLASLt reads as its C is stored. @pre the epilogue reads one
const OperandSpec& c_of(const CublasLtEpilogue& epilogue, const Problem& problem);

/// Elements from one line of a matrix to the next. @param along of a line
inline std::int64_t leading_dimension(const OperandSpec& spec, std::int64_t along) {
  return spec.ld > 0 ? spec.ld : along;
}

/// Bytes that all pointers of an operand are a multiple of, 256 at most.
std::uint32_t alignment_of(const OperandSpec& spec);

}  // namespace quarry::lab::gemm
