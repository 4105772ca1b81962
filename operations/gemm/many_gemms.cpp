#include "operations/gemm/many_gemms.hpp"

#include <string>

#include "gemm/reductions.hpp"
#include "operations/common/row_checks.hpp"
#include "operations/gemm/scale_support.hpp"

namespace quarry::detail {
namespace {

Status check_fits(Operand name, Layout expected, const ProblemOperand& operand) {
  if (operand.fits[static_cast<int>(expected)]) return {};
  return {StatusCode::unsupported, Reason::layout, name, static_cast<int>(expected),
          static_cast<int>(transposed(expected))};
}

}  // namespace

Status no_kernel_of(std::string_view problems, const Types& types) {
  const auto word = [](DType type) { return std::string(to_string(type)); };
  return {StatusCode::no_kernel, "No kernel of " + std::string(problems) + " is registered for operands a " +
                                     word(types.a) + ", b " + word(types.b) + ", accumulator " +
                                     word(types.accumulator) + ", out " + word(types.out)};
}

Status check_signature(const Row& row, const GemmProblem& gemm) {
  const OperandsMetadata& operands = row.metadata.operands;
  const Types& types = gemm.types;
  if (Status s = check_type(Operand::a, operands.a.dtype, types.a); !s) return s;
  if (Status s = check_type(Operand::b, operands.b.dtype, types.b); !s) return s;
  if (Status s = check_type(Operand::out, operands.out.dtype, types.out); !s) return s;
  if (operands.accumulator != types.accumulator) {
    return {StatusCode::unsupported, "Accumulator is unsupported: expected " +
                                         std::string(to_string(operands.accumulator)) + ", got " +
                                         std::string(to_string(types.accumulator))};
  }
  if (Status s = check_fits(Operand::a, operands.a.layout, gemm.a); !s) return s;
  return check_fits(Operand::b, operands.b.layout, gemm.b);
}

Status check_scales_or_expression(const Row& row, const GemmProblem& gemm) {
  const ScaleSupport scales = row.metadata.operands.scales;
  if (scales != ScaleSupport::none && gemm.expressed)
    return {StatusCode::unsupported,
            "The expression is unsupported: kernels that take scales of operands compute none"};
  return check_scales(scales, gemm);
}

Account with_reductions(Account account, const GemmProfile& profile, const GemmProblem& gemm) {
  const double reductions = reduction_seconds(profile, gemm);
  account.seconds += reductions;
  account[TimePart::exchange] += reductions;
  return account;
}

}  // namespace quarry::detail
