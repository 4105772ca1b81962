// Problems in the words of the command line, as logs of problems have them.
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "lab/tune/problem_lines.hpp"
#include "quarry/quarry.hpp"
#include "registry/operation.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using test::Random;

detail::TuningKey key_of(Arguments arguments) {
  const auto key = detail::info_of(arguments.operation()).tuning_key(arguments.data());
  REQUIRE(key);
  return *key;
}

std::string words_of(const GemmArguments& args) { return detail::gemm::Rules::command_text(args); }

}  // namespace

TEST_CASE("the words of a problem are read as a problem of the same key") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int said = 0;
  for (int i = 0; i < 400; ++i) {
    GemmArguments args = test::problem_for(random, test::any_row(random));
    GemmProblem problem;
    if (!test::normalise(args, problem)) continue;
    const std::string words = words_of(args);
    if (words.empty()) continue;
    ++said;
    INFO(words);
    const Result<lab::Problem> read = lab::parse_command_text("gemm " + words);
    INFO(read.status().message());
    REQUIRE(read);
    REQUIRE(key_of(arguments_of(*read)) == key_of(args));
  }
  CHECK(said > 200);
}

TEST_CASE("the words of plain problems are short") {
  GemmArguments args = test::plain_problem(64, 128, 256);
  CHECK(words_of(args) == "64x128x256 --a f16:row --b f16:col --out f16:row");
  args.a = TensorView::row_major(nullptr, DType::f16, {64, 256}, 264);
  args.a.assumed_alignment = 4;
  args.epilogue.bias = TensorView::vector(nullptr, DType::f16, 128);
  args.epilogue.activation = Activation::gelu;
  args.epilogue.clamp = {.high = 6};
  args.controls.swizzle = 4;
  CHECK(words_of(args) ==
        "64x128x256 --a f16:row:ld=264:align=2 --b f16:col --out f16:row --activation gelu --bias column "
        "--clamp :6 --swizzle 4");
}

TEST_CASE("a problem with an expression has no key and no words, and as a line it is read") {
  const std::string line =
      "gemm 64x64x64 --a f16:row --b f16:row --out f16:row --epilogue 'out = relu(sum + bias)' "
      "--with bias=f32:per_column";
  const Result<lab::Problem> problem = lab::parse_command_text(line);
  INFO(problem.status().message());
  REQUIRE(problem);
  const Result<lab::Problem> again = lab::parse_command_text(command_text(*problem));
  REQUIRE(again);
  CHECK(command_text(*again) == command_text(*problem));
  const lab::HeldArguments held = arguments_of(*problem);
  const Arguments arguments = held;
  CHECK(words_of(held.as<GemmArguments>()).empty());
  const auto key = detail::info_of(arguments.operation()).tuning_key(arguments.data());
  CHECK(key.status().code() == StatusCode::unsupported);
}

TEST_CASE("strides that no flag says have no words") {
  GemmArguments args = test::plain_problem(64, 128, 256);
  args.a.strides[1] = 3;
  args.a.strides[0] = 3 * 256;
  CHECK(words_of(args).empty());
  args = test::plain_problem(64, 128, 256);
  args.b.strides[1] = 0;
  CHECK(words_of(args).empty());
}
