// Lists of GEMMs as remembered answers and tuning tables know them, and in the words of the command line.
#include <algorithm>
#include <cstdint>
#include <string>

#include "operations/common/epilogue_values.hpp"
#include "operations/common/expression/words.hpp"
#include "operations/common/problem_words.hpp"
#include "operations/gemm_list/expression.hpp"
#include "operations/gemm_list/operation.hpp"
#include "operations/gemm_list/problem.hpp"

namespace quarry::detail::gemm_list {
namespace {

bool same(const ListExtents& x, const ListExtents& y) { return x.m == y.m && x.n == y.n && x.k == y.k; }

GemmParams most_extents(const GemmListProblem& problem) {
  GemmParams most = {};
  most.m = problem.gemm.m;
  most.n = problem.gemm.n;
  most.k = problem.gemm.k;
  return most;
}

/// A hash of the sizes within the bounds; 0 where all are the bounds, or are not known.
std::uint64_t sizes_hash(const GemmListProblem& problem) {
  if (problem.host_sizes == nullptr) return 0;
  const GemmParams bounds = most_extents(problem);
  bool are_bounds = true;
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (int i = 0; i < problem.gemm.batch; ++i) {
    const ListExtents own = host_extents(problem, bounds, i);
    are_bounds = are_bounds && same(own, {bounds.m, bounds.n, bounds.k});
    for (const int extent : {own.m, own.n, own.k}) {
      hash = (hash ^ static_cast<std::uint32_t>(extent)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 29;
    }
  }
  return are_bounds ? 0 : hash;
}

std::string extents_text(const ListExtents& e) {
  return std::to_string(e.m) + "x" + std::to_string(e.n) + "x" + std::to_string(e.k);
}

/// The sizes of a list as "64x64x64,3*128x32x512", and the least bounds of them.
struct SaidList {
  std::string text;
  ListExtents bounds = {};
};

SaidList said_list(const GemmListProblem& problem, const ListExtents& bounds) {
  SaidList said;
  GemmParams most = {};
  most.m = bounds.m;
  most.n = bounds.n;
  most.k = bounds.k;
  const auto own = [&](int i) {
    return problem.host_sizes == nullptr ? bounds : host_extents(problem, most, i);
  };
  const int count = problem.gemm.batch;
  for (int i = 0; i < count && said.text.size() <= most_line_bytes;) {
    const ListExtents each = own(i);
    int next = i + 1;
    while (next < count && same(own(next), each)) ++next;
    said.text.append(i > 0 ? "," : "").append(next - i > 1 ? std::to_string(next - i) + "*" : "");
    said.text += extents_text(each);
    said.bounds = {std::max(said.bounds.m, each.m), std::max(said.bounds.n, each.n),
                   std::max(said.bounds.k, each.k)};
    i = next;
  }
  return said;
}

}  // namespace

Question Rules::question(const GemmListProblem& problem) {
  return {.bounds = gemm::whole_question(problem.gemm),
          .sizes = sizes_hash(problem),
          .by_columns = problem.list.by_columns,
          .has_leading = static_cast<std::uint8_t>(problem.has_leading),
          .knows_sizes = static_cast<std::uint8_t>(problem.host_sizes != nullptr),
          .host_schedule = static_cast<std::uint8_t>(problem.host_schedule),
          .leading_alignment = problem.leading_alignment};
}

std::int64_t Rules::tuning_question(const GemmListProblem& problem, TuningQuestion& question) {
  const std::uint64_t sizes = sizes_hash(problem);
  question = {.bounds = {},
              .sizes_high = static_cast<std::uint32_t>(sizes >> 32),
              .sizes_low = static_cast<std::uint32_t>(sizes),
              .by_columns = problem.list.by_columns,
              .has_leading = static_cast<std::uint8_t>(problem.has_leading),
              .host_schedule = static_cast<std::uint8_t>(problem.host_schedule),
              .leading_alignment = problem.leading_alignment};
  const std::int64_t m = gemm::Rules::tuning_question(problem.gemm, question.bounds);
  question.bounds.m = static_cast<int>(m);
  return 0;
}

std::string Rules::command_text(const GemmListArguments& args) {
  const TensorView& out = args.out;
  GemmListProblem problem;
  describe(args, problem);
  const ListExtents bounds = {static_cast<int>(out.extents[1]), static_cast<int>(product_columns(args)),
                              static_cast<int>(args.a.extents[args.a.rank - 1U])};
  const SaidList list = said_list(problem, bounds);
  ProblemWords words(list.text);
  if (list.text.empty() || out.extents[0] > most_said_groups) words.refuse();
  if (!same(list.bounds, bounds)) words.flag("bounds", extents_text(bounds));
  words.matrix_of_list("a", args.a);
  words.matrix_of_list("b", args.b);
  const bool reads_c = args.c && !is_zero(args.epilogue.beta);
  if (reads_c) words.matrix_beside("c", *args.c, out);
  words.matrix_of_list("out", out);
  if (args.a_scale) words.flag("a-scale", to_string(args.a_scale_granularity));
  if (args.b_scale) words.flag("b-scale", to_string(args.b_scale_granularity));
  if (args.leading) {
    words.flag("leading", "packed");
    words.flag("leading-alignment", std::to_string(problem.leading_alignment));
  }
  if (problem.host_schedule) words.flag("schedule", to_string(args.schedule));
  if (args.accumulator) words.flag("accumulator", to_string(*args.accumulator));
  if (args.expression) {
    write_expression(*args.expression, args.tensors, out, false, words);
    write_parts(*args.expression, args.tensors, true, words);
  } else {
    words.factors(args.epilogue, reads_c);
    words.epilogue(args.epilogue, out);
  }
  return words.text();
}

}  // namespace quarry::detail::gemm_list
