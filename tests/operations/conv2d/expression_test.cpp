/// Convolutions with expressions: by heart, in every kernel that takes them, and what is refused.
#include <array>
#include <string>
#include <vector>

#include "operations/conv2d/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::check_nothing_found;
using test::parsed;
using test::run_all;
using Extents = std::array<std::int64_t, 4>;

TensorView nhwc(const void* data, DType type, const Extents& e) {
  const Extents strides = {e[1] * e[2] * e[3], e[2] * e[3], e[3], 1};
  return TensorView::strided(data, type, e, strides);
}

/// 3x3 pixels of one channel with two filters of 1x1, which multiply by 1 and by 10.
const std::vector<float> pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9};
const std::vector<float> filters = {1, 10};

Conv2dArguments product(std::vector<float>& out) {
  out.assign(18, -1);
  return {.a = nhwc(pixels.data(), DType::f32, {1, 3, 3, 1}),
          .b = nhwc(filters.data(), DType::f32, {2, 1, 1, 1}),
          .out = nhwc(out.data(), DType::f32, {1, 3, 3, 2})};
}

/// 2x4x4x8 and 16 filters of 1x1, without memory.
Conv2dArguments fake(Direction direction = Direction::fprop) {
  const TensorView x = nhwc(nullptr, DType::bf16, {2, 4, 4, 8});
  const TensorView w = nhwc(nullptr, DType::bf16, {16, 3, 3, 8});
  const TensorView y = nhwc(nullptr, DType::bf16, {2, 4, 4, 16});
  Conv2dArguments args = {.direction = direction, .a = x, .b = w, .out = y, .padding = {1, 1}};
  if (direction == Direction::dgrad) args.a = y, args.out = x;
  if (direction == Direction::wgrad) args.a = y, args.b = x, args.out = w;
  return args;
}

Conv2dArguments with(std::string_view text, std::string_view declared, std::vector<ExpressionTensor> tensors,
                     Direction direction = Direction::fprop) {
  Conv2dArguments args = fake(direction);
  args.expression = parsed(text, declared);
  args.tensors = std::move(tensors);
  return args;
}

}  // namespace

TEST_CASE("conv2d: an expression reads scalars, channels and tensors, and writes several",
          "[conv2d][expression]") {
  std::vector<float> out;
  Conv2dArguments args = product(out);
  const std::vector<float> bias = {1000, 2000};
  std::vector<float> residual(18);
  for (std::size_t i = 0; i < residual.size(); ++i) residual[i] = static_cast<float>(i) / 64;
  std::vector<int> twice(18);
  args.expression = parsed("twice = sum * 2; out = sum * s + bias + r",
                           "s=f32:scalar,bias=f32:per_column,r=f32:row,twice=s32:row");
  args.tensors = {{"s", {}, 0.5},
                  {"bias", TensorView::vector(bias.data(), DType::f32, 2)},
                  {"twice", nhwc(twice.data(), DType::s32, {1, 3, 3, 2})},
                  {"r", nhwc(residual.data(), DType::f32, {1, 3, 3, 2})}};
  const int runs = run_all(args, [&] {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const float sum = pixels[i / 2] * filters[i % 2];
      CHECK(out[i] == sum * 0.5F + bias[i % 2] + residual[i]);
      CHECK(twice[i] == static_cast<int>(2 * sum));
    }
    out.assign(18, -1);
    twice.assign(18, -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("conv2d: an input of an expression may be the output itself, in all directions",
          "[conv2d][expression]") {
  std::vector<float> out;
  Conv2dArguments args = product(out);
  args.expression = parsed("out = sum + x", "x=f32:row");
  args.tensors = {{"x", args.out}};
  std::ranges::fill(out, 7.0F);
  REQUIRE(find_best(args)->run(args));
  for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == pixels[i / 2] * filters[i % 2] + 7);

  // The gradient of the filters: for each, the sum over pixels of itself times the pixel.
  std::vector<float> gradient = {100, 200};
  Conv2dArguments wgrad = {.direction = Direction::wgrad,
                           .a = nhwc(out.data(), DType::f32, {1, 3, 3, 2}),
                           .b = args.a,
                           .out = nhwc(gradient.data(), DType::f32, {2, 1, 1, 1})};
  std::ranges::fill(out, 1.0F);
  wgrad.expression = args.expression;
  wgrad.tensors = {{"x", wgrad.out}};
  REQUIRE(find_best(wgrad)->run(wgrad));
  CHECK(gradient == std::vector<float>{145, 245});
}

TEST_CASE("conv2d: a tensor of an expression may be shared by images or positions", "[conv2d][expression]") {
  std::vector<float> out;
  Conv2dArguments args = product(out);
  const std::vector<float> shared = {100, 200};
  args.expression = parsed("out = sum + x", "x=f32:row");
  args.tensors = {{"x", nhwc(shared.data(), DType::f32, {1, 1, 1, 2})}};
  run_all(args, [&] {
    for (std::size_t i = 0; i < out.size(); ++i)
      CHECK(out[i] == pixels[i / 2] * filters[i % 2] + shared[i % 2]);
  });
}

TEST_CASE("conv2d: tensors that do not fit the expression are refused by name", "[conv2d][expression]") {
  const TensorView like_out = nhwc(nullptr, DType::bf16, {2, 4, 4, 16});
  REQUIRE_FALSE(get_kernels(with("out = sum + x", "x=bf16:row", {{"x", like_out}})).empty());
  check_nothing_found(with("out = sum + x", "x=bf16:row", {}), "Operand `x` is missing");
  check_nothing_found(with("out = sum + x", "x=bf16:row", {{"x", nhwc(nullptr, DType::bf16, {2, 4, 4, 8})}}),
                      "`x` does not fit `out` along columns: expected 16 or 1, got 8");
  check_nothing_found(with("out = sum + x", "x=bf16:row", {{"x", nhwc(nullptr, DType::f16, {2, 4, 4, 16})}}),
                      "`x` is declared bf16, but is of f16");
  const TensorView column = TensorView::vector(nullptr, DType::f32, 32);
  check_nothing_found(with("out = sum + x", "x=f32:per_row", {{"x", column}}),
                      "Operand `x` is declared per_row: outputs of a convolution have no rows");
  check_nothing_found(with("out = sum + x", "x=bf16:col", {{"x", like_out}}), "Operand `x` is declared col");
  check_nothing_found(with("out = sum + x", "x=f32:per_column",
                           {{"x", TensorView::vector(nullptr, DType::f32, 8)}}, Direction::wgrad),
                      "the output of wgrad has no channels of an image");
  // Rows of images lie apart.
  TensorView apart = like_out;
  apart.strides = {4 * 80, 80, 16, 1};
  check_nothing_found(with("out = sum + x", "x=bf16:row", {{"x", apart}}),
                      "Operand `x` does not have its elements at even distances");
  Conv2dArguments args = with("out = sum", "", {});
  args.out = apart;
  check_nothing_found(args, "Operand `out` does not have its elements at even distances");
  args.expression.reset();
  CHECK_FALSE(get_kernels(args).empty());
  args.tensors = {{"x", like_out}};
  check_nothing_found(args, "Operand `x` is given without an expression");
}

TEST_CASE("conv2d: what no kernel computes of an expression is refused in words", "[conv2d][expression]") {
  check_nothing_found(
      with("out = sum; s = row_sum(sum)", "", {{"s", TensorView::vector(nullptr, DType::f32, 1)}}),
      "Reductions are not computed by kernels of convolutions");
  check_nothing_found(with("out = gate(sum) * up(sum)", "", {}),
                      "Gated pairs are not computed by kernels of convolutions", StatusCode::unsupported);
  check_nothing_found(with("out = sum + t[i]", "t=f32:gathered,i=s32:per_row", {}),
                      "Rows that an index chooses are not read by kernels of convolutions",
                      StatusCode::unsupported);
  Conv2dArguments args = with("out = sum", "", {});
  args.epilogue.activation = Activation::relu;
  check_nothing_found(args, "`activation` stands beside an expression");
  args.epilogue = {};
  args.c = args.out;
  check_nothing_found(args, "`c` stands beside an expression");
  args = with("out = f32(sum)", "", {});
  args.accumulator = DType::f64;
  check_nothing_found(args, "The expression's `sum` is f32, but sums of f64 are f64");
}

TEST_CASE("conv2d: kernels whose rows lie apart refuse expressions, and others take the problem",
          "[conv2d][expression]") {
  Conv2dArguments args = with("out = sum * 2", "", {}, Direction::dgrad);
  args.a = nhwc(nullptr, DType::bf16, {2, 2, 2, 16});
  args.stride = {2, 2};
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  int phased = 0;
  for (const Kernel& kernel : get_kernels()) {
    const KernelMetadata& m = kernel.metadata();
    if (m.operation != Operation::conv2d || m.direction != Direction::dgrad ||
        m.operands.a.dtype != DType::bf16 || m.design.strides != WindowStrides::strided)
      continue;
    ++phased;
    const Status status = kernel.supports(args);
    CHECK_FALSE(status);
    if (m.operands.out.dtype == DType::bf16 && m.operands.accumulator == DType::f32)
      CHECK(status.message().find("The expression is unsupported") != std::string::npos);
  }
  CHECK(phased > 0);
}

TEST_CASE("conv2d: expressions are part of what a problem is remembered by", "[conv2d][expression]") {
  using detail::conv2d::Rules;
  const auto digest = [](const Conv2dArguments& args) {
    detail::OperandList operands;
    Rules::operands(args, operands);
    Conv2dProblem problem;
    REQUIRE(Rules::check(args, operands, problem));
    return Rules::expression_hash(problem);
  };
  const std::uint64_t one = digest(with("out = sum * 2", "", {}));
  CHECK(one != 0);
  CHECK(one == digest(with("twice = 2; out = sum * twice", "", {})));
  CHECK(one != digest(with("out = sum * 3", "", {})));
  CHECK(digest(fake()) == 0);
}
