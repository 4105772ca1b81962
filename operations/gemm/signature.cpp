#include <string>

#include "operations/common/row_checks.hpp"
#include "operations/gemm/operation.hpp"

namespace quarry::detail {
namespace {

/// @param contiguous whether one of the operand's strides is 1
Status check_layout(Operand name, Layout expected, const ProblemOperand& operand) {
  if (operand.fits[static_cast<int>(expected)]) return {};
  // One that fits without being aligned to anything has no stride of 1: neither.
  int got = -1;
  for (int other = 0; other < layout_count; ++other) {
    if (operand.fits[other] && operand.alignment[other] > 0) got = other;
  }
  return {StatusCode::unsupported, Reason::layout, name, static_cast<int>(expected), got};
}

}  // namespace

Status gemm::Rules::check_signature(const Row& row, const GemmProblem& problem) {
  const OperandsMetadata& operands = row.metadata.operands;
  if (Status s = check_type(Operand::a, operands.a.dtype, problem.types.a); !s) return s;
  if (Status s = check_type(Operand::b, operands.b.dtype, problem.types.b); !s) return s;
  if (Status s = check_type(Operand::out, operands.out.dtype, problem.types.out); !s) return s;
  if (operands.accumulator != problem.types.accumulator) {
    return {StatusCode::unsupported, "Accumulator is unsupported: expected " +
                                         std::string(to_string(operands.accumulator)) + ", got " +
                                         std::string(to_string(problem.types.accumulator))};
  }
  if (Status s = check_math(row.metadata.design.math, problem.math); !s) return s;
  if (Status s = check_layout(Operand::a, operands.a.layout, problem.a); !s) return s;
  if (Status s = check_layout(Operand::b, operands.b.layout, problem.b); !s) return s;
  return check_layout(Operand::out, operands.out.layout, problem.out);
}

}  // namespace quarry::detail
