/// The comparison with the reference where a clamp or a type bounds outputs, and where they are very large or
/// small.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "lab/problems/fresh_seed.hpp"
#include "lab/reference/norm.hpp"
#include "lab/reference/reference.hpp"
#include "lab/trials/trial.hpp"
#include "lab/tune/problem_lines.hpp"
#include "support/catch_compat.hpp"
#include "support/reference_problem.hpp"

using namespace quarry;
using namespace quarry::lab;
using test::plain_problem;
using test::RandomProblem;
using test::write_reference;

TEST_CASE("where a clamp leaves little, zeros are wrong, and what a right sum may become is right",
          "[reference]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  RandomProblem problem = plain_problem(40, 50, 64, seed, {DType::f16, DType::f16, DType::f16, DType::f32});
  problem.arguments.epilogue.clamp = {-1e-4, 1e-3};
  const Result<Reference> reference = compute_reference(problem.arguments);
  REQUIRE(reference);
  const Expected& expected = (*reference)[Operand::out];
  const Tolerance bounds = tolerance(DType::f16, DType::f32, MathUnit::simt, 64);
  write_reference(*reference, problem.arguments.out);
  CHECK(compare(*reference, problem.arguments, bounds).within());

  auto* const out = static_cast<float*>(problem[Operand::out].data());
  const std::size_t count = expected.values.size();
  // Sums that are off by as much as they may be, on either side; some of them change the side of the clamp.
  int changed = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double off = (i % 2 == 0 ? 1 : -1) * bounds.accumulation * expected.magnitudes[i];
    const double value = std::clamp(expected.unclamped[i] + off, -1e-4, 1e-3);
    changed += value != expected.values[i];
    out[i] = static_cast<float>(value);
  }
  CHECK(changed > 0);
  CHECK(compare(*reference, problem.arguments, bounds).within());
  std::fill_n(out, count, 0.0F);
  CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
  // Sums are not near 0, so that the signs are certain.
  for (std::size_t i = 0; i < count; ++i) out[i] = expected.unclamped[i] > 0 ? -1e-4F : 1e-3F;
  CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
}

TEST_CASE("where the range of a type leaves little of large sums, zeros are wrong", "[reference]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const DType type : {DType::e4m3, DType::e5m2}) {
    INFO(to_string(type));
    RandomProblem problem = plain_problem(30, 40, 128, seed, {type, type, DType::f32, type});
    problem.arguments.epilogue.alpha = 1e9;
    const Result<Reference> reference = compute_reference(problem.arguments);
    REQUIRE(reference);
    const Tolerance bounds =
        tolerance(DType::f32, type, MathUnit::tensor_core, 128, Math::exact, DType::e4m3);
    write_reference(*reference, problem.arguments.out);
    CHECK(compare(*reference, problem.arguments, bounds).within());
    std::memset(problem[Operand::out].data(), 0, reference->outputs[0].values.size());
    CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
  }
}

TEST_CASE("each output of a bounded problem has its magnitude, and all have the scale", "[reference]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const char* problem :
       {"gemm 70x90x600 --type f16 --clamp -0.1:0.2", "gemm 70x90x60 --type f32 --scale row --clamp :0.2",
        "gemm 33x70x40 --type s8 --out u8 --alpha 0.5 --batch 2",
        "conv2d fprop 2x9x8x12 20x3x3 --type bf16 --padding 1 --clamp 0:",
        "conv2d wgrad 2x9x8x12 20x3x3 --type f16 --clamp -1:1",
        "grouped_gemm 3x64x96 --type f16 --sizes 7,7,40 --room 50 --clamp -0.1:0.1",
        "grouped_gemm 3x64x96 --type f16 --sizes 7,16,40 --form ragged_k --clamp -0.1:0.1",
        "gemm_list 64x64x64,128x32x512 --type f16 --leading packed --clamp -0.1:0.1",
        "reduce_split_k 6x30x20 --type f32 --out f16 --scale column --clamp -0.1:0.1"}) {
    INFO(problem);
    const Result<Problem> parsed = parse_command_text(problem);
    INFO(parsed.status().message());
    REQUIRE(parsed);
    Result<TrialProblem> trial = TrialProblem::make(*parsed, seed, Place::host);
    REQUIRE(trial);
    const Result<Reference> reference = compute_reference(trial->host.arguments());
    REQUIRE(reference);
    const Expected& expected = reference->outputs[0];
    REQUIRE(expected.magnitudes.size() == expected.values.size());
    CHECK(expected.unclamped.empty() == (expected.clamp == Clamp()));
    Norm magnitudes;
    for (const double each : expected.magnitudes) magnitudes.add(each);
    CHECK(magnitudes.finite_value() == Approx(expected.scale).epsilon(1e-9));
    for (std::size_t i = 0; i < expected.unclamped.size(); ++i) {
      // Sums of what lies outside of all groups are 0.
      if (expected.magnitudes[i] == 0) continue;
      REQUIRE(expected.values[i] ==
              std::min(std::max(expected.unclamped[i], expected.clamp.low), expected.clamp.high));
      REQUIRE(std::abs(expected.unclamped[i]) < 8 * expected.magnitudes[i]);
    }
  }
  // Nothing bounds these.
  const RandomProblem unbounded = plain_problem(5, 6, 7, seed);
  CHECK(compute_reference(unbounded.arguments)->outputs[0].magnitudes.empty());
}

TEST_CASE("f64 outputs of any size are compared", "[reference]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const double alpha : {1e160, -1e300, 1e-170, 1e-290}) {
    INFO("alpha " << alpha);
    constexpr Types types = {DType::f64, DType::f64, DType::f64, DType::f64};
    RandomProblem problem = plain_problem(20, 30, 50, seed, types);
    problem.arguments.epilogue.alpha = alpha;
    problem.arguments.c = problem.arguments.out;
    const Tolerance bounds = tolerance(DType::f64, DType::f64, MathUnit::simt, 50);
    auto* const out = static_cast<double*>(problem[Operand::out].data());
    for (const double beta : {0.0, 1.0}) {
      problem.arguments.epilogue.beta = beta;
      std::fill_n(out, 600, 3 * alpha);
      const Result<Reference> reference = compute_reference(problem.arguments);
      REQUIRE(reference);
      write_reference(*reference, problem.arguments.out);
      const Comparison right = compare(*reference, problem.arguments, bounds);
      INFO(right.text());
      CHECK(right.within());
      CHECK(right.error == 0);
      CHECK(right.bound < 1e-14);
      CHECK(right.bound > 1e-16);
      const double was = out[7];
      out[7] += alpha * 1e-6;
      CHECK_FALSE(compare(*reference, problem.arguments, bounds).within());
      out[7] = was;
      CHECK(compare(*reference, problem.arguments, bounds).within());
      std::fill_n(out, 600, 0.0);
      const Comparison zeros = compare(*reference, problem.arguments, bounds);
      CHECK_FALSE(zeros.within());
      CHECK(zeros.error == Approx(1));
    }
  }
}
