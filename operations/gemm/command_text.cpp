// A GEMM in the words of the command line.
#include <string>

#include "basic/words.hpp"
#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/words.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/types.hpp"

namespace quarry::detail::gemm {
namespace {

/// What becomes of the sums: an expression, or the standard epilogue.
void write_epilogue(const GemmArguments& args, bool reads_c, ProblemWords& words) {
  if (args.expression) return write_expression(*args.expression, args.tensors, args.out, false, words);
  words.factors(args.epilogue, reads_c);
  words.epilogue(args.epilogue, args.out);
}

}  // namespace

std::string Rules::command_text(const GemmArguments& args) {
  const TensorView& out = args.out;
  const bool in_batch = out.rank == 3;
  ProblemWords words(std::to_string(rows(out)) + "x" + std::to_string(columns(args.b)) + "x" +
                     std::to_string(columns(args.a)));
  words.matrix("a", args.a, in_batch);
  words.matrix("b", args.b, in_batch);
  for (const auto* table : {&args.a_scale, &args.b_scale, &args.b_zero}) {
    if (*table && (*table)->is_pointer_array) words.refuse();
  }
  if (args.a_scale) words.flag("a-scale", to_string(args.a_scale_granularity));
  if (args.b_scale) words.flag("b-scale", to_string(args.b_scale_granularity));
  if (args.b_zero) words.flag("b-zero", to_string(args.b_zero->dtype));
  const bool reads_c = args.c && !is_zero(args.epilogue.beta);
  if (reads_c) words.matrix_beside("c", *args.c, out);
  words.matrix("out", out, in_batch);
  words.batch(out);
  if (args.accumulator) words.flag("accumulator", to_string(*args.accumulator));
  if (args.math != Math::exact) words.flag("math", word_of(math_words, args.math));
  if (args.accumulation != Accumulation::fast)
    words.flag("accumulation", word_of(accumulation_words, args.accumulation));
  write_epilogue(args, reads_c, words);
  words.controls(args.controls);
  return words.text();
}

}  // namespace quarry::detail::gemm
