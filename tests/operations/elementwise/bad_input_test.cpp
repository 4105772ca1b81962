/// What is refused of elementwise arguments, and in which words.
#include <array>
#include <string>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::matrix;
using test::parsed_elementwise;

/// out = x + y of bf16, with some of the tensors replaced.
ElementwiseArguments sum_of(ExpressionTensor x, ExpressionTensor y, ExpressionTensor out) {
  return {.expression = parsed_elementwise("out = x + y", "x=bf16:row,y=bf16:row"),
          .tensors = {std::move(x), std::move(y), std::move(out)}};
}

void check_refused(const ElementwiseArguments& args, const std::string& words,
                   StatusCode code = StatusCode::invalid_arguments) {
  test::check_nothing_found(args, words, code);
}

}  // namespace

TEST_CASE("elementwise: tensors that do not fit the expression are refused by name", "[elementwise]") {
  const ExpressionTensor x = {"x", matrix(DType::bf16)};
  const ExpressionTensor y = {"y", matrix(DType::bf16)};
  const ExpressionTensor out = {"out", matrix(DType::bf16)};
  REQUIRE_FALSE(get_kernels(sum_of(x, y, out)).empty());

  check_refused(sum_of(x, {"z", y.view}, out), "Operand `z` is not in the expression");
  check_refused(sum_of(x, x, out), "Operand `x` is given twice");
  check_refused(
      {.expression = parsed_elementwise("out = x + y", "x=bf16:row,y=bf16:row"), .tensors = {x, out}},
      "Operand `y` is missing");
  check_refused({.expression = parsed_elementwise("out = x + y", "x=bf16:row,y=bf16:row"), .tensors = {x, y}},
                "Operand `out` is missing");
  check_refused(sum_of(x, {"y", matrix(DType::f16)}, out), "`y` is declared bf16, but is of f16");
  check_refused(sum_of(x, {"y", matrix(DType::bf16, 3)}, out),
                "`y` does not fit `out` along rows: expected 4 or 1, got 3");
  check_refused(sum_of(x, {"y", matrix(DType::bf16, 4, 2)}, out), "along columns: expected 8 or 1, got 2");
  check_refused(sum_of(x, {"y", TensorView::row_major(nullptr, DType::bf16, {2, 4, 8})}, out),
                "along the batch: expected 1, got 2");
  check_refused(sum_of(x, {"y", TensorView::column_interleaved32(nullptr, DType::bf16, {32, 32})}, out),
                "Operand `y` is column_interleaved32");
}

TEST_CASE("elementwise: views that no kernel walks are refused", "[elementwise]") {
  const ExpressionTensor x = {"x", matrix(DType::bf16)};
  const ExpressionTensor y = {"y", matrix(DType::bf16)};
  const auto with_out = [&](const TensorView& view) { return sum_of(x, y, {"out", view}); };
  TensorView overlapping = matrix(DType::bf16);
  overlapping.strides[0] = 3;
  check_refused(with_out(overlapping), "Operand `out`");
  TensorView negative = matrix(DType::bf16);
  negative.strides[0] = -8;
  check_refused(sum_of(x, {"y", negative}, {"out", matrix(DType::bf16)}), "Operand `y` has a negative");
  check_refused(with_out(matrix(DType::s4)), "types of whole bytes");
  check_refused(with_out(TensorView{}), "Operand `out` is missing");
  check_refused(sum_of(x, {"y", PointerArrayView::row_major(nullptr, DType::bf16, 2, {4, 8})},
                       {"out", TensorView::row_major(nullptr, DType::bf16, {2, 4, 8})}),
                "Operand `y` is an array of pointers");
}

TEST_CASE("elementwise: inputs that are broadcast do not have more elements than can be counted",
          "[elementwise]") {
  const std::int64_t extents[] = {1 << 22, 1 << 21, 1 << 21, 1};
  const std::int64_t strides[] = {0, 0, 0, 0};
  const ExpressionTensor x = {"x", TensorView::strided(nullptr, DType::f32, extents, strides)};
  const Expression sum = parsed_elementwise("out = sum(x)", "x=f32:row");
  check_refused({sum, {x, {"out", TensorView::vector(nullptr, DType::f32, 1)}}}, "too many elements");
}

TEST_CASE("elementwise: outputs may be an input element by element, and overlap nothing else",
          "[elementwise]") {
  std::array<float, 64> memory = {};
  const auto at = [&](std::size_t offset, DType type = DType::f32) {
    return TensorView::row_major(memory.data() + offset, type, {4, 8});
  };
  const Expression twice = parsed_elementwise("out = x + x", "x=f32:row");
  CHECK_FALSE(get_kernels(ElementwiseArguments{twice, {{"x", at(0)}, {"out", at(0)}}}).empty());
  check_refused({twice, {{"x", at(0)}, {"out", at(8)}}}, "`x`");
  TensorView broadcast = at(0);
  broadcast.strides[0] = 0;
  check_refused({twice, {{"x", broadcast}, {"out", at(0)}}}, "`x`");
  // A row that all rows of the output read, at the output's own address.
  TensorView first_row = at(0);
  first_row.extents[0] = 1;
  check_refused({twice, {{"x", first_row}, {"out", at(0)}}}, "`x`");
  const Expression narrow = parsed_elementwise("out = x", "x=f32:row");
  check_refused({narrow, {{"x", at(0)}, {"out", at(0, DType::bf16)}}}, "`x`");
  const Expression two = parsed_elementwise("out = x; aux = x + 1", "x=f32:row,aux=f32:row");
  check_refused(
      {two, {{"x", TensorView::row_major(nullptr, DType::f32, {4, 8})}, {"out", at(0)}, {"aux", at(4)}}},
      "aux");
}

TEST_CASE("elementwise: what an expression may not have here is said", "[elementwise]") {
  const ExpressionTensor x = {"x", matrix(DType::f32)};
  const ExpressionTensor out = {"out", matrix(DType::f32)};
  check_refused({parsed_elementwise("out = x; total = row_sum(x)", "x=f32:row"), {x, out}},
                "Operand `total` is missing");
  const Result<Expression> sums = Expression::parse("out = sum", {});
  REQUIRE(sums);
  check_refused({*sums, {out}}, "has no sums");
  check_refused({parsed_elementwise("out = s4(x)", "x=f32:row"), {x, out}},
                "not rounded to s4 by elementwise kernels", StatusCode::unsupported);
  check_refused({parsed_elementwise("out = x * s", "x=f32:row,s=e4m3:scalar"), {x, {"s", {}, 2}, out}},
                "is a value of e4m3");
  check_refused(
      {parsed_elementwise("out = a + b + c + d + e + f + g + h",
                          "a=f32:row,b=f32:row,c=f32:row,d=f32:row,e=f32:row,f=f32:row,g=f32:row,h=f32:row"),
       {}},
      "at most 8 tensors, got 9");
}
