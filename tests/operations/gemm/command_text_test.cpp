// Problems in the words of the command line, as logs of problems have them.
#include <limits>
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
  INFO(key.status().message());
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

TEST_CASE("the words of a problem with an expression say the types of its tensors, and what is in place") {
  GemmArguments args = test::plain_problem(64, 128, 256);
  const auto declared = [](const std::string& text) {
    return *expression::Declarations::parse(text, DType::f32);
  };
  args.expression = *Expression::parse("out = relu(sum + bias) * x; z = sum",
                                       declared("bias=f32:per_column,x=f16:row,z=f16:row"));
  args.tensors = {{"bias", TensorView::vector(nullptr, DType::f32, 128)},
                  {"x", TensorView::row_major(nullptr, DType::f16, {64, 128})},
                  {"z", TensorView::row_major(nullptr, DType::f16, {64, 128})}};
  const std::string words = words_of(args);
  CHECK(words ==
        "64x128x256 --a f16:row --b f16:col --out f16:row --epilogue 'out = relu(sum + bias) * x; z = sum' "
        "--with bias=f32:per_column,x=f16:row,z=f16:row");
  const Result<lab::Problem> read = lab::parse_command_text("gemm " + words);
  INFO(read.status().message());
  REQUIRE(read);
  CHECK(key_of(arguments_of(*read)) == key_of(args));
  CHECK(command_text(*read) == "gemm " + words);
  // Declared or not, `out` is of its view's type.
  const auto undeclared = key_of(args);
  args.expression = *Expression::parse("out = relu(sum + bias) * x; z = sum",
                                       declared("bias=f32:per_column,x=f16:row,z=f16:row,out=f16:row"));
  CHECK(key_of(args) == undeclared);
  CHECK(words_of(args).ends_with(",x=f16:row,out=f16:row,z=f16:row"));
  alignas(16) std::byte memory[16] = {};
  args.out.data = memory;
  args.tensors[1].view.data = memory;
  CHECK(words_of(args).ends_with(" --in-place x"));
}

TEST_CASE("numbers that are not finite, and scales in arrays, have no words") {
  const GemmArguments plain = test::plain_problem(64, 128, 256);
  CHECK(!words_of(plain).empty());
  GemmArguments args = plain;
  args.epilogue.alpha = std::numeric_limits<double>::infinity();
  CHECK(words_of(args).empty());
  args = plain;
  args.epilogue.clamp.low = std::numeric_limits<double>::quiet_NaN();
  CHECK(words_of(args).empty());
  args = plain;
  args.a_scale = TensorView::vector(nullptr, DType::f32, 64);
  CHECK(!words_of(args).empty());
  args.a_scale->is_pointer_array = true;
  CHECK(words_of(args).empty());
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
