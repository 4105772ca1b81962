// Grouped GEMMs as remembered answers and tuning tables know them, and in the words of the command line.
#include <limits>
#include <string>

#include "operations/common/epilogue_checks.hpp"
#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/words.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/common/tensor_checks.hpp"
#include "operations/grouped_gemm/operation.hpp"
#include "operations/grouped_gemm/problem.hpp"

namespace quarry::detail::grouped_gemm {
namespace {

std::string shape_words(const GroupedGemmArguments& args, std::int64_t groups) {
  const bool is_ragged = form_of(args) == GroupForm::ragged_k;
  return std::to_string(groups) + "x" + std::to_string(is_ragged ? rows(args.a) : columns(args.b)) + "x" +
         std::to_string(is_ragged ? columns(args.b) : columns(args.a));
}

/// The room, and the sizes that are expected, as even ones.
void write_sizes(const GroupedGemmArguments& args, ProblemWords& words) {
  const ExpectedSizes expected = expected_sizes(args);
  if (expected.total > std::numeric_limits<std::int32_t>::max()) words.refuse();
  words.flag("tokens", std::to_string(expected.total));
  words.flag("distribution", "even");
  words.flag("sizes-are", to_string(args.sizes_are));
  words.flag("room", std::to_string(room_of(args)));
  words.number("largest", expected.largest, 0);
}

}  // namespace

Question Rules::question(const GroupedGemmProblem& problem) {
  return {.full = gemm::whole_question(problem.gemm),
          .expected_total = problem.expected_total,
          .expected_largest = problem.expected_largest,
          .groups = problem.groups.groups,
          .room = problem.groups.room,
          .form = problem.groups.form,
          .sizes_are_ends = static_cast<std::uint8_t>(problem.groups.sizes_are_ends),
          .zero_outside = static_cast<std::uint8_t>(problem.groups.zero_outside)};
}

std::int64_t Rules::tuning_question(const GroupedGemmProblem& problem, TuningQuestion& question) {
  const auto total = static_cast<std::uint64_t>(problem.expected_total);
  const auto largest = static_cast<std::uint64_t>(problem.expected_largest);
  question = {.full = {},
              .groups = problem.groups.groups,
              .room = problem.groups.room,
              .expected_high = static_cast<std::uint32_t>(total >> 32),
              .expected_low = static_cast<std::uint32_t>(total),
              .expected_largest_high = static_cast<std::uint32_t>(largest >> 32),
              .expected_largest_low = static_cast<std::uint32_t>(largest),
              .form = problem.groups.form,
              .sizes_are_ends = static_cast<std::uint8_t>(problem.groups.sizes_are_ends),
              .zero_outside = static_cast<std::uint8_t>(problem.groups.zero_outside)};
  const std::int64_t m = gemm::Rules::tuning_question(problem.gemm, question.full);
  question.full.m = static_cast<int>(m);
  return 0;
}

std::string Rules::command_text(const GroupedGemmArguments& args) {
  const TensorView& out = args.out;
  const std::int64_t groups = args.sizes.extents[0];
  ProblemWords words(shape_words(args, groups));
  if (groups > most_said_groups) words.refuse();
  const GroupForm form = form_of(args);
  if (form != GroupForm::contiguous) words.flag("form", form_words[static_cast<std::size_t>(form)]);
  words.matrix("a", args.a, false);  // neither A nor B is shared
  words.matrix("b", args.b, false);
  if (args.a_scale) words.flag("a-scale", to_string(args.a_scale_granularity));
  if (args.b_scale) words.flag("b-scale", to_string(args.b_scale_granularity));
  const bool reads_c = args.c && !is_zero(args.epilogue.beta);
  if (reads_c) words.matrix_beside("c", *args.c, out);
  words.matrix("out", out, out.rank == 3);
  write_sizes(args, words);
  if (args.zero_outside) words.flag("outside", "zero");
  if (args.accumulator) words.flag("accumulator", to_string(*args.accumulator));
  if (args.expression) {
    write_expression(*args.expression, args.tensors, args.out, false, words);
    write_parts(*args.expression, args.tensors, form_of(args) != GroupForm::contiguous, words);
  } else {
    words.factors(args.epilogue, reads_c);
    words.epilogue(args.epilogue, out);
  }
  return words.text();
}

}  // namespace quarry::detail::grouped_gemm
