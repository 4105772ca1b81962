#include "operations/gemm/normalise.hpp"

#include <new>
#include <string>
#include <type_traits>

#include "operations/common/controls.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/common/operand_checks.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/expression.hpp"
#include "operations/gemm/scales.hpp"

namespace quarry::detail {
namespace {

Status check_matrices(const GemmArguments& args) {
  const TensorView& out = args.out;
  if (Status s = check_tensor(out, Operand::out, 2, 3); !s) return s;
  if (Status s = check_tensor(args.a, Operand::a, 2, out.rank); !s) return s;
  if (Status s = check_tensor(args.b, Operand::b, 2, out.rank); !s) return s;
  const std::int64_t k = columns(args.a);
  const bool is_gated = args.expression && args.expression->is_gated();
  const std::int64_t n = is_gated ? 2 * columns(out) : columns(out);
  if (Status s = check_extents(args.a, Operand::a, rows(out), k, out); !s) return s;
  if (Status s = check_extents(args.b, Operand::b, k, n, out); !s) return s;
  return check_output_strides(out);
}

DType accumulator_of(const GemmArguments& args) {
  return args.accumulator.value_or(default_accumulator(args.a.dtype, args.b.dtype));
}

/// The scales of a problem, which are in the sums of an expression even where nothing is summed.
OperandScales scales_of(const GemmArguments& args, int k) {
  return has_scales(args) && (k > 0 || args.expression) ? operand_scales(args) : OperandScales();
}

/// describe, of arguments whose accumulator is known.
void describe_with(const GemmArguments& args, DType accumulator, GemmProblem& problem) {
  const Epilogue& e = args.epilogue;
  const int k = is_zero(e.alpha) ? 0 : static_cast<int>(columns(args.a));
  static_assert(std::is_trivially_destructible_v<GemmProblem>);
  // In place, each part once: every query and every run waits for this.
  new (&problem)
      GemmProblem{.types = {args.a.dtype, args.b.dtype, accumulator, args.out.dtype},
                  .math = args.math,
                  .a = problem_operand(args.a),
                  .b = problem_operand(args.b),
                  .c = is_zero(e.beta) ? ProblemOperand() : problem_operand(*args.c),
                  .out = problem_operand(args.out),
                  .must_promote = args.accumulation == Accumulation::precise && is_fp8(args.a.dtype) && k > 0,
                  .scales = scales_of(args, k),
                  .has_c = !is_zero(e.beta),
                  .has_bias = e.bias.has_value(),
                  .has_scale = e.scale.has_value(),
                  .has_residual = e.residual.has_value(),
                  .has_aux = e.aux.has_value(),
                  .epilogue = epilogue_params(e, compute_type(accumulator, args.out.dtype)),
                  .m = static_cast<int>(rows(args.out)),
                  .n = static_cast<int>(columns(args.out)),
                  .k = k,
                  .batch = args.out.rank == 3 ? static_cast<int>(args.out.extents[0]) : 1,
                  .controls = args.controls};
  if (args.expression) describe_expression(given_expression(args), problem);
  problem.has_arrays = array_operand(problem) != Operand::none;
}

}  // namespace

void describe(const GemmArguments& args, GemmProblem& problem) {
  describe_with(args, accumulator_of(args), problem);
}

Status normalise(const GemmArguments& args, const OperandList& operands, GemmProblem& problem) {
  if (Status s = check_matrices(args); !s) return s;
  const DType accumulator = accumulator_of(args);
  if (bits_of(accumulator) == 0) return invalid("The accumulator has no data type");
  if (args.math > Math::fast_bf16)
    return invalid("There is no math of number " + std::to_string(static_cast<int>(args.math)));
  if (args.accumulation > Accumulation::precise) {
    return invalid("There is no accumulation of number " +
                   std::to_string(static_cast<int>(args.accumulation)));
  }
  const DType compute = compute_type(accumulator, args.out.dtype);
  if (Status s = check_epilogue_operands(args.out, args.c, args.epilogue, compute); !s) return s;
  if (has_scales(args) || args.b_zero) {
    if (Status s = check_scales(args, compute); !s) return s;
  }
  if (Status s = check_expression(args, accumulator); !s) return s;
  if (Status s = check_controls(args.controls); !s) return s;
  if (Status s = check_memory(operands); !s) return with_names(s, args.tensors);
  if (Status s = check_overlaps(operands); !s) return with_names(s, args.tensors);
  describe_with(args, accumulator, problem);
  return {};
}

}  // namespace quarry::detail
