#include "gemm/problem.hpp"

#include <cstddef>
#include <utility>

namespace quarry {
namespace {

ProblemOperand exchanged(ProblemOperand operand) {
  std::swap(operand.matrix.row_stride, operand.matrix.column_stride);
  constexpr auto number = [](Layout layout) { return static_cast<std::size_t>(layout); };
  for (const Layout layout : {Layout::row, Layout::row_interleaved32}) {
    std::swap(operand.fits[number(layout)], operand.fits[number(transposed(layout))]);
    std::swap(operand.alignment[number(layout)], operand.alignment[number(transposed(layout))]);
  }
  return operand;
}

}  // namespace

Operand array_operand(const GemmProblem& problem) {
  const EpilogueParams& e = problem.epilogue;
  if (is_pointer_array(problem.is_exchanged ? problem.b.matrix : problem.a.matrix)) return Operand::a;
  if (is_pointer_array(problem.is_exchanged ? problem.a.matrix : problem.b.matrix)) return Operand::b;
  const OperandScales& scales = problem.scales;
  if (is_pointer_array(problem.is_exchanged ? scales.b : scales.a)) return Operand::a_scale;
  if (is_pointer_array(problem.is_exchanged ? scales.a : scales.b)) return Operand::b_scale;
  if (is_pointer_array((problem.is_exchanged ? scales.a : scales.b).zero)) return Operand::b_zero;
  if (is_pointer_array(problem.c.matrix)) return Operand::c;
  if (is_pointer_array(problem.out.matrix)) return Operand::out;
  if (is_pointer_array(e.residual)) return Operand::residual;
  return is_pointer_array(e.aux) ? Operand::aux : Operand::none;
}

GemmProblem exchanged(const GemmProblem& problem) {
  GemmProblem result = problem;
  result.types = exchanged(problem.types);
  result.a = exchanged(problem.b);
  result.b = exchanged(problem.a);
  result.c = exchanged(problem.c);
  result.out = exchanged(problem.out);
  result.scales = exchanged(problem.scales);
  result.epilogue = transposed(problem.epilogue);
  result.m = problem.n;
  result.n = problem.m;
  result.controls = exchanged(problem.controls);
  result.is_exchanged = !problem.is_exchanged;
  result.traffic.reset();
  return result;
}

}  // namespace quarry
