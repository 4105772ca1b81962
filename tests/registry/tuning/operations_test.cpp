// Queries with tuning tables, of every operation whose kernels are tuned and of expressions.
#include <algorithm>
#include <random>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "lab/tune/problem_lines.hpp"
#include "lab/verify/path_order.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/kernel_problems.hpp"
#include "support/loaded_table.hpp"
#include "support/registry_problems.hpp"
#include "support/tuned_problems.hpp"

namespace {

using namespace quarry;
using test::load;
using test::measured;
using test::on_h200;

/// The best kernel, and that it is the same when it is asked again and the first of the list.
Candidate best_of(const Arguments& arguments) {
  const Result<Candidate> best = find_best(arguments, {}, on_h200());
  INFO(best.status().message());
  REQUIRE(best);
  const Result<Candidate> again = find_best(arguments, {}, on_h200());
  const CandidateList list = get_kernels(arguments, {}, on_h200());
  REQUIRE(again);
  REQUIRE(!list.empty());
  for (const Candidate* each : {&*again, &list.front()}) {
    CHECK(each->name() == best->name());
    CHECK(each->measured_seconds() == best->measured_seconds());
  }
  return *best;
}

/// Measures the last candidate of a problem as the best one, and checks that it comes first, until the tables
/// are forgotten. @return whether there were several candidates
bool check_winner(const Arguments& arguments) {
  const CandidateList before = get_kernels(arguments, {}, on_h200());
  if (before.size() < 2) return false;
  const Candidate& last = before.begin()[before.size() - 1];
  load({measured(arguments, before.front(), 5), measured(arguments, last, 3)});
  const Candidate best = best_of(arguments);
  CHECK(best.name() == last.name());
  CHECK(best.measured_seconds() == Approx(3e-6));
  CHECK(best.controls().mode == last.controls().mode);
  CHECK(best.controls().split_k_slices == last.controls().split_k_slices);
  const CandidateList after = get_kernels(arguments, {}, on_h200());
  CHECK(after.size() == before.size());
  CHECK(after.begin()[1].name() == before.front().name());
  clear_tuning();
  CHECK(best_of(arguments).name() == before.front().name());
  return true;
}

lab::HeldArguments arguments_of_line(const std::string& line) {
  const Result<lab::Problem> problem = lab::parse_command_text(line);
  INFO(line << ": " << problem.status().message());
  REQUIRE(problem);
  return arguments_of(*problem);
}

}  // namespace

TEST_CASE("the measured winner of any operation's problem comes first") {
  const test::WithoutTuning none;
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (const lab::OperationLab& lab : lab::operation_labs()) {
    if (!detail::info_of(lab.operation).no_tuning.empty()) continue;
    int checked = 0;
    for (const Kernel& kernel : test::some_kernels(lab.operation, 25, random)) {
      const std::int64_t number = lab::problem_numbers(kernel.metadata(), {}, random()).back();
      const lab::Problem problem = test::problem_for(kernel, random(), number);
      if (!check_not_empty(problem)) continue;
      INFO(command_text(problem));
      const lab::HeldArguments held = arguments_of(problem);
      checked += static_cast<int>(check_winner(held));
    }
    INFO(lab.name);
    CHECK(checked > 2);
  }
}

TEST_CASE("where kernels are not tuned, a problem has one kernel") {
  std::mt19937_64 random(1);
  int checked = 0;
  for (const lab::OperationLab& lab : lab::operation_labs()) {
    if (detail::info_of(lab.operation).no_tuning.empty()) continue;
    for (const Kernel& kernel : test::some_kernels(lab.operation, 25, random)) {
      const lab::Problem problem = test::problem_for(kernel, random(), 0);
      INFO(command_text(problem));
      CHECK(get_kernels(arguments_of(problem), {}, on_h200()).size() == 1);
      ++checked;
    }
  }
  CHECK(checked > 0);
}

TEST_CASE("what was measured of an expression holds for this expression alone") {
  const test::WithoutTuning none;
  const std::string line = "gemm 256x512x1024 --a f16:row --b f16:col --out f16:row";
  const std::string with_bias = " --with bias=f32:per_column";
  const lab::HeldArguments plain = arguments_of_line(line);
  const lab::HeldArguments relu =
      arguments_of_line(line + " --epilogue 'out = relu(sum + bias)'" + with_bias);
  const lab::HeldArguments silu =
      arguments_of_line(line + " --epilogue 'out = silu(sum + bias)'" + with_bias);
  const lab::HeldArguments half =
      arguments_of_line(line + " --epilogue 'out = relu(sum + bias)' --with bias=f16:per_column");
  REQUIRE(check_winner(relu));
  const CandidateList candidates = get_kernels(relu, {}, on_h200());
  REQUIRE(candidates.size() > 3);
  const Candidate first = candidates.begin()[2];
  const Candidate second = candidates.begin()[3];
  load({measured(relu, first, 4), measured(silu, second, 3)});
  // One after the other, so that each could be remembered as the other's answer.
  for (int i = 0; i < 2; ++i) {
    CHECK(best_of(relu).name() == first.name());
    CHECK(best_of(silu).name() == second.name());
    CHECK(!best_of(half).measured_seconds());
    CHECK(!best_of(plain).measured_seconds());
  }
}

TEST_CASE("a convolution whose slices of K do not go with the workspace passes over the measurement") {
  const test::WithoutTuning none;
  const lab::HeldArguments held = arguments_of_line("conv2d wgrad 32x14x14x64 64x3x3 --a bf16 --padding 1");
  const Arguments arguments = held;
  const CandidateList before = get_kernels(arguments, {}, on_h200());
  const auto sliced =
      std::ranges::find_if(before, [](const Candidate& each) { return each.workspace() > 0; });
  REQUIRE(sliced != before.end());
  load({measured(arguments, *sliced, 3)});
  CHECK(best_of(arguments).measured_seconds());
  FindOptions options = on_h200();
  options.max_workspace = 0;
  const Result<Candidate> best = find_best(arguments, {}, options);
  REQUIRE(best);
  CHECK(!best->measured_seconds());
}
