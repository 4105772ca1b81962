// Reductions as logs of problems know them, and in the words of the command line.
#include <string>

#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/reduce_split_k/operation.hpp"
#include "operations/reduce_split_k/problem.hpp"

namespace quarry::detail::reduce_split_k {
namespace {

std::uint32_t epilogue_parts(const ReduceProblem& problem) {
  const EpilogueParams& e = problem.params.epilogue;
  std::uint32_t parts = 0;
  for (const bool part : {problem.has_c, problem.has_bias, problem.has_bias && e.bias_axis == BiasAxis::row,
                          problem.has_scale, problem.has_residual, problem.has_aux, e.clamps})
    parts = parts << 1 | static_cast<std::uint32_t>(part);
  return parts;
}

}  // namespace

std::int64_t Rules::tuning_question(const ReduceProblem& problem, TuningQuestion& question) {
  const ReduceParams& p = problem.params;
  question = {.m = p.m,
              .n = p.n,
              .batch = p.batch,
              .slices = p.slices,
              .partials = problem.partials,
              .out = problem.out,
              .layout = problem.layout,
              .activation = p.epilogue.activation,
              .parts = epilogue_parts(problem)};
  return 0;
}

std::string Rules::command_text(const ReduceSplitKArguments& args) {
  const TensorView& out = args.out;
  ReduceProblem problem;
  detail::describe(args, problem);
  ProblemWords words(std::to_string(args.partials.extents[0]) + "x" + std::to_string(rows(out)) + "x" +
                     std::to_string(columns(out)));
  if (!problem.is_packed) words.refuse();
  words.flag("partials",
             std::string(to_string(args.partials.dtype)) + ProblemWords::alignment_text(args.partials));
  const bool reads_c = args.c && !is_zero(args.epilogue.beta);
  if (reads_c) words.matrix_beside("c", *args.c, out);
  words.matrix("out", out, out.rank == 3);
  words.batch(out);
  words.factors(args.epilogue, reads_c);
  words.epilogue(args.epilogue, out);
  return words.text();
}

}  // namespace quarry::detail::reduce_split_k
