/// What is refused of GEMM arguments with an expression, and in which words.
#include <array>
#include <string>
#include <utility>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::matrix;
using test::parsed;

/// 4 x 8 x 16 in bf16.
GemmArguments product() {
  return {.a = matrix(DType::bf16, 4, 16), .b = matrix(DType::bf16, 16, 8), .out = matrix(DType::bf16)};
}

GemmArguments with(std::string_view text, std::string_view declared, std::vector<ExpressionTensor> tensors,
                   DType sum = DType::f32) {
  GemmArguments args = product();
  args.expression = parsed(text, declared, sum);
  args.tensors = std::move(tensors);
  return args;
}

void check_taken_by_none(const GemmArguments& args, const std::string& words,
                         StatusCode code = StatusCode::invalid_arguments) {
  test::check_nothing_found(args, words, code);
  CHECK_FALSE(find_kernel("gemm_simt_bf16_bf16_f32_bf16_rrr_64x64x16_t8x4")
                  .value_or(get_kernels().front())
                  .supports(args));
}

}  // namespace

TEST_CASE("gemm: tensors that do not fit the expression are refused by name", "[gemm][expression]") {
  const std::string_view text = "out = sum + bias * m";
  const std::string_view declared = "bias=bf16:per_column,m=bf16:row";
  const ExpressionTensor bias = {"bias", TensorView::vector(nullptr, DType::bf16, 8)};
  const ExpressionTensor m = {"m", matrix(DType::bf16)};
  REQUIRE_FALSE(get_kernels(with(text, declared, {bias, m})).empty());

  check_taken_by_none(with(text, declared, {bias}), "Operand `m` is missing");
  check_taken_by_none(with(text, declared, {bias, m, {"other", m.view}}),
                      "Operand `other` is not in the expression");
  check_taken_by_none(with(text, declared, {bias, m, m}), "Operand `m` is given twice");
  check_taken_by_none(with(text, declared, {bias, m, {"out", m.view}}), "Operand `out` is given twice");
  check_taken_by_none(with(text, declared, {bias, {"m", matrix(DType::f16)}}),
                      "`m` is declared bf16, but is of f16");
  check_taken_by_none(with(text, declared, {bias, {"m", matrix(DType::bf16, 3)}}),
                      "`m` does not fit `out` along rows: expected 4 or 1, got 3");
  check_taken_by_none(with(text, declared, {{"bias", TensorView::vector(nullptr, DType::bf16, 4)}, m}),
                      "`bias` does not fit `out` along columns: expected 8 or 1, got 4");
  check_taken_by_none(
      with(text, declared, {bias, {"m", TensorView::row_major(nullptr, DType::bf16, {2, 4, 8})}}),
      "`m` does not fit `out` along the batch: expected 1, got 2");
  check_taken_by_none(with(text, declared, {bias, {"m", {}}}), "Operand `m`");
  check_taken_by_none(
      with(text, declared, {bias, {"m", TensorView::column_interleaved32(nullptr, DType::bf16, {32, 32})}}),
      "Operand `m` is column_interleaved32");
  GemmArguments batch = with("out = sum + x", "x=bf16:row",
                             {{"x", PointerArrayView::row_major(nullptr, DType::bf16, 2, {4, 8})}});
  batch.out = TensorView::row_major(nullptr, DType::bf16, {2, 4, 8});
  check_taken_by_none(batch, "Operand `x` is an array of pointers");
}

TEST_CASE("gemm: memory that an expression may not have is refused", "[gemm][expression]") {
  std::array<unsigned short, 256> memory = {};
  const auto at = [&](std::size_t offset, DType type = DType::bf16) {
    return TensorView::row_major(memory.data() + offset, type, {4, 8});
  };
  const auto reads = [&](const TensorView& out, const TensorView& x) {
    GemmArguments args = with("out = sum + x", "x=bf16:row", {{"x", x}});
    args.out = out;
    return args;
  };
  CHECK_FALSE(get_kernels(reads(at(0), at(0))).empty());
  check_taken_by_none(reads(at(0), at(8)), "`x`");
  TensorView broadcast = at(0);
  broadcast.strides[0] = 0;
  check_taken_by_none(reads(at(0), broadcast), "`x`");
  GemmArguments wider =
      with("out = sum + x", "x=f32:row", {{"x", TensorView::row_major(memory.data(), DType::f32, {4, 8})}});
  wider.out = at(0);
  check_taken_by_none(wider, "`x`");
  GemmArguments twice = with("y = sum * 2; out = y + 1", "y=bf16:row", {{"y", at(16)}});
  twice.out = at(0);
  check_taken_by_none(twice, "`y`");
  GemmArguments over_a = with("y = sum * 2; out = y + 1", "y=bf16:row", {{"y", at(0)}});
  over_a.a = TensorView::row_major(memory.data(), DType::bf16, {4, 16});
  check_taken_by_none(over_a, "overlap");
  TensorView repeated = matrix(DType::bf16);
  repeated.strides[0] = 0;
  check_taken_by_none(with("y = sum * 2; out = y + 1", "y=bf16:row", {{"y", repeated}}), "`y`");
}

TEST_CASE("gemm: refusals name tensors by their own names, whatever these are", "[gemm][expression]") {
  std::array<unsigned short, 64> memory = {};
  const auto at = [&](std::size_t offset) {
    return TensorView::row_major(memory.data() + offset, DType::bf16, {4, 8});
  };
  GemmArguments args = with("out = sum + tensor1 * x", "tensor1=bf16:row,x=bf16:row",
                            {{"tensor1", at(8)}, {"x", matrix(DType::bf16)}});
  args.out = at(0);
  const auto refusal = [&] { return get_kernels(args).status(); };
  CHECK_THAT(refusal().message(), Catch::StartsWith("Operand `tensor1` overlaps `out`"));
  CHECK(refusal().reason() == Reason::output_overlap);
  CHECK(refusal().operand() == Operand::tensor0);
  std::swap(args.tensors[0].view, args.tensors[1].view);
  CHECK_THAT(refusal().message(), Catch::StartsWith("Operand `x` overlaps `out`"));
  CHECK(refusal().operand() == Operand::tensor1);
  args.out = matrix(DType::bf16);
  args.tensors[0].view.strides[0] = -1;
  CHECK_THAT(refusal().message(), Catch::StartsWith("Operand `tensor1` has a negative stride"));
  CHECK(refusal().reason() == Reason::negative_stride);
  args.tensors[0].view = matrix(DType::bf16, 3);
  CHECK_THAT(refusal().message(), Catch::StartsWith("Operand `tensor1` does not fit `out` along rows"));
}

TEST_CASE("gemm: an expression stands in the place of the standard chain", "[gemm][expression]") {
  const GemmArguments args = with("out = sum * 2", "", {});
  REQUIRE_FALSE(get_kernels(args).empty());
  const auto beside = [&](const std::string& part, const auto& change) {
    GemmArguments changed = args;
    change(changed);
    check_taken_by_none(changed, "`" + part + "` stands beside an expression");
  };
  const TensorView bias = TensorView::vector(nullptr, DType::bf16, 8);
  beside("alpha", [](GemmArguments& x) { x.epilogue.alpha = 2; });
  beside("alpha", [](GemmArguments& x) { x.epilogue.alpha = 0; });
  beside("beta", [](GemmArguments& x) { x.epilogue.beta = 1, x.c = matrix(DType::bf16); });
  beside("c", [](GemmArguments& x) { x.c = matrix(DType::bf16); });
  beside("bias", [&](GemmArguments& x) { x.epilogue.bias = bias; });
  beside("activation", [](GemmArguments& x) { x.epilogue.activation = Activation::gelu; });
  beside("scale", [](GemmArguments& x) { x.epilogue.scale = TensorView::vector(nullptr, DType::f32, 8); });
  beside("residual", [](GemmArguments& x) { x.epilogue.residual = matrix(DType::bf16); });
  beside("aux", [](GemmArguments& x) { x.epilogue.aux = matrix(DType::bf16); });
  beside("clamp", [](GemmArguments& x) { x.epilogue.clamp.low = 0; });
  const TensorView one = TensorView::row_major(nullptr, DType::f32, {1, 1});
  beside("a_scale", [&](GemmArguments& x) { x.a_scale = one; });
  beside("b_scale", [&](GemmArguments& x) { x.b_scale = one; });
  beside("a_scale", [&](GemmArguments& x) {
    x.a_scale = TensorView::row_major(nullptr, DType::f32, {4, 1});
    x.a_scale_granularity = ScaleGranularity::row;
  });
  beside("b_scale", [&](GemmArguments& x) {
    x.b_scale = TensorView::row_major(nullptr, DType::f32, {1, 8});
    x.b_scale_granularity = ScaleGranularity::column;
  });
  GemmArguments alone = product();
  alone.tensors = {{"x", matrix(DType::bf16)}};
  check_taken_by_none(alone, "Operand `x` is given without an expression");
}

TEST_CASE("gemm: what acts within the sum is not taken together with an expression", "[gemm][expression]") {
  const std::string apart = " is not taken together with an expression: no kernel has both";
  const TensorView of_a = TensorView::row_major(nullptr, DType::f32, {4, 1});
  const TensorView of_b = TensorView::row_major(nullptr, DType::f32, {1, 8});
  for (const ScaleGranularity granularity :
       {ScaleGranularity::block_1x128, ScaleGranularity::block_1x64, ScaleGranularity::block_1x32}) {
    GemmArguments args = with("out = sum", "", {});
    args.b = TensorView::column_major(nullptr, DType::s4, {16, 8});
    GemmArguments b = args;
    args.a_scale = of_a;
    args.a_scale_granularity = granularity;
    const std::string word(to_string(granularity));
    check_taken_by_none(args, "`a_scale` of " + word + apart);
    b.b_scale = of_b;
    b.b_scale_granularity = granularity;
    check_taken_by_none(b, "`b_scale` of " + word + apart);
  }
  GemmArguments blocks = with("out = sum", "", {});
  blocks.b = TensorView::column_major(nullptr, DType::s8, {16, 8});
  blocks.b_scale = TensorView::row_major(nullptr, DType::f32, {1, 1});
  blocks.b_scale_granularity = ScaleGranularity::block_128x128;
  check_taken_by_none(blocks, "`b_scale` of 128x128" + apart);
  GemmArguments zeros = with("out = sum", "", {});
  zeros.b = TensorView::column_major(nullptr, DType::u4, {16, 8});
  zeros.b_scale = of_b;
  zeros.b_scale_granularity = ScaleGranularity::column;
  zeros.b_zero = TensorView::row_major(nullptr, DType::u8, {1, 8});
  check_taken_by_none(zeros, "`b_zero`" + apart);
}

TEST_CASE("gemm: what an expression may not have is said", "[gemm][expression]") {
  const ExpressionTensor x = {"x", matrix(DType::bf16)};
  check_taken_by_none(with("out = x", "x=bf16:row", {x}, DType::none), "reads `sum`; this one does not");
  check_taken_by_none(with("out = sum", "", {}, DType::f64), "`sum` is f64, but sums of f32 are f32");
  check_taken_by_none(with("out = f32(sum)", "", {}, DType::s32), "`sum` is s32, but sums of f32 are f32");
  check_taken_by_none(with("out = sum; total = row_sum(sum)", "", {}), "Operand `total` is missing");
  check_taken_by_none(with("out = row_sum(sum)", "", {}), "has a value for each element");
  check_taken_by_none(with("out = s4(sum)", "", {}), "not rounded to s4 by GEMM kernels",
                      StatusCode::unsupported);
  check_taken_by_none(with("out = sum + a", "a=bf16:row", {{"a", x.view}}),
                      "is the name of an operand of the product");
  check_taken_by_none(with("out = sum", "out=f32:row", {}), "`out` is declared f32, but is of bf16");
  check_taken_by_none(with("out = sum * s", "s=e4m3:scalar", {{"s", {}, 2}}), "is a value of e4m3");
  check_taken_by_none(
      with("out = sum + c + d + e + f + g + h + i + j + k",
           "c=f32:row,d=f32:row,e=f32:row,f=f32:row,g=f32:row,h=f32:row,i=f32:row,j=f32:row,k=f32:row", {}),
      "at most 8 tensors beside `out`, got 9");
  GemmArguments interleaved = {.a = TensorView::column_interleaved32(nullptr, DType::s8, {32, 64}),
                               .b = TensorView::row_interleaved32(nullptr, DType::s8, {64, 32}),
                               .out = TensorView::column_interleaved32(nullptr, DType::s8, {32, 32})};
  interleaved.expression = parsed("out = sum", "", DType::s32);
  check_taken_by_none(interleaved, "Operand `out` is column_interleaved32");
}
