/// Grouped GEMMs with expressions: by heart, in every kernel that takes them, and what is refused.
#include <cstdint>
#include <string>
#include <vector>

#include "operations/grouped_gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/experts.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::check_nothing_found;
using test::Experts;
using test::Floats;
using test::parsed;
using test::rows_of;
using test::run_all;
using test::vector_of;

/// Contiguous groups without memory: 64 rows of 32, four matrices of 32x48.
GroupedGemmArguments fake() {
  return {.a = TensorView::row_major(nullptr, DType::f16, {64, 32}),
          .b = TensorView::row_major(nullptr, DType::f16, {4, 32, 48}),
          .out = TensorView::row_major(nullptr, DType::f16, {64, 48}),
          .sizes = TensorView::vector(nullptr, DType::s32, 4)};
}

GroupedGemmArguments with(std::string_view text, std::string_view declared,
                          std::vector<ExpressionTensor> tensors) {
  GroupedGemmArguments args = fake();
  args.expression = parsed(text, declared);
  args.tensors = std::move(tensors);
  return args;
}

}  // namespace

TEST_CASE("grouped_gemm: an expression of contiguous groups has the rows of all of them, and columns of each",
          "[grouped_gemm][expression]") {
  Experts e;
  GroupedGemmArguments args = e.arguments();
  const Floats row = {10, 20, 30, 40, 50};
  const Floats column = {100, 200};
  const Floats bias = {1000, 2000, 3000, 4000, 5000, 6000};
  const Floats gate = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  Floats z(10, -1);
  args.expression = parsed("z = sum + row; out = z * m + column + bias * s",
                           "row=f32:per_row,column=f32:per_column,bias=f32:per_column,m=f32:row,s=f32:scalar,"
                           "z=f32:row");
  args.tensors = {{"row", vector_of(row)},
                  {"column", vector_of(column)},
                  {"bias", rows_of(bias, {3, 2})},
                  {"m", rows_of(gate, {5, 2})},
                  {"s", {}, 0.5},
                  {"z", rows_of(z, {5, 2})}};
  const int runs = run_all(args, [&] {
    for (std::size_t i = 0; i < 8; ++i) {
      const float with_row = e.sum(i / 2, i % 2) + row[i / 2];
      CHECK(z[i] == with_row);
      CHECK(e.out[i] == with_row * gate[i] + column[i % 2] + bias[2 * Experts::expert_of(i / 2) + i % 2] / 2);
    }
    for (std::size_t i = 8; i < 10; ++i) {  // a token without an expert
      CHECK(z[i] == -1);
      CHECK(e.out[i] == -1);
    }
    z.assign(10, -1);
    e.out.assign(10, -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("grouped_gemm: without groups, an expression with a tensor of each group does nothing",
          "[grouped_gemm][expression]") {
  Experts e;
  GroupedGemmArguments args = e.arguments();
  args.b = rows_of(e.weights, {0, 1, 2});
  args.sizes = TensorView::vector(e.ends.data(), DType::s32, 0);
  const Floats bias = {1, 2, 3, 4};
  const Floats column = {5, 6};
  args.expression = parsed("out = sum + bias + column", "bias=f32:per_column,column=f32:per_column");
  args.tensors = {{"bias", rows_of(bias, {0, 2})}, {"column", vector_of(column)}};
  const int runs = run_all(args, [&] { CHECK(e.out == Floats(10, -1)); });
  CHECK(runs > 0);
  args.zero_outside = true;
  CHECK(run_all(args, [&] {
          CHECK(e.out == Floats(10, 0));
          e.out.assign(10, -1);
        }) > 0);
  // Values of groups that there are not.
  args.tensors[0].view = rows_of(bias, {2, 2});
  check_nothing_found(args, "batch");
}

TEST_CASE("grouped_gemm: rows outside of all groups become 0 where that is asked, with an expression, too",
          "[grouped_gemm][expression]") {
  Experts e;
  GroupedGemmArguments args = e.arguments();
  args.zero_outside = true;
  Floats z(10, -1);
  const Floats per_expert = {10, 20, 30};
  args.expression = parsed("z = sum; out = sum + x", "x=f32:per_column,z=f32:row");
  args.tensors = {{"x", rows_of(per_expert, {3, 1})}, {"z", rows_of(z, {5, 2})}};
  run_all(args, [&] {
    for (std::size_t i = 0; i < 8; ++i)
      CHECK(e.out[i] == e.sum(i / 2, i % 2) + per_expert[Experts::expert_of(i / 2)]);
    CHECK((e.out[8] == 0 && e.out[9] == 0));
    CHECK((z[8] == -1 && z[9] == -1));
    e.out.assign(10, -1);
  });
}

TEST_CASE("grouped_gemm: an index chooses rows of a table of all groups, or of each",
          "[grouped_gemm][expression]") {
  Experts e;
  GroupedGemmArguments args = e.arguments();
  const std::vector<std::int32_t> index = {1, -1, 0, 2, 1};
  const Floats shared = {10, 20, 30, 40};
  const Floats of_each = {100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200};
  args.expression =
      parsed("out = sum + shared[i] + own[i]", "shared=f32:gathered,own=f32:gathered,i=s32:per_row");
  args.tensors = {{"i", TensorView::vector(index.data(), DType::s32, 5)},
                  {"shared", rows_of(shared, {2, 2})},
                  {"own", rows_of(of_each, {3, 2, 2})}};
  const int runs = run_all(args, [&] {
    for (std::size_t i = 0; i < 8; ++i) {
      const std::int32_t row = index[i / 2];  // 2 and -1 are no rows
      const std::size_t at = static_cast<std::size_t>(row) * 2 + i % 2;
      const bool is_row = row == 0 || row == 1;
      const float chosen = is_row ? shared[at] + of_each[4 * Experts::expert_of(i / 2) + at] : 0;
      CHECK(e.out[i] == e.sum(i / 2, i % 2) + chosen);
    }
    CHECK((e.out[8] == -1 && e.out[9] == -1));
    e.out.assign(10, -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("grouped_gemm: tables that do not fit are refused by name", "[grouped_gemm][expression]") {
  const TensorView indices = TensorView::vector(nullptr, DType::s32, 64);
  const auto gathers = [&](TensorView table, TensorView index) {
    return with("out = sum + table[index]", "table=f32:gathered,index=s32:per_row",
                {{"table", table}, {"index", index}});
  };
  const auto table = [](std::initializer_list<std::int64_t> extents) {
    return TensorView::row_major(nullptr, DType::f32, extents);
  };
  REQUIRE_FALSE(get_kernels(gathers(table({9, 48}), indices)).empty());
  REQUIRE_FALSE(get_kernels(gathers(table({4, 9, 48}), indices)).empty());
  check_nothing_found(gathers(table({9, 47}), indices), "Operand `table` does not fit `out` along columns");
  check_nothing_found(gathers(table({3, 9, 48}), indices),
                      "Operand `table` does not fit `out` along the batch");
  check_nothing_found(gathers(table({48}), indices), "Operand `table` is gathered: expected a matrix");
  check_nothing_found(gathers(table({9, 48}), TensorView::vector(nullptr, DType::s32, 63)),
                      "expected 64 or 1, got 63");
}

TEST_CASE("grouped_gemm: a gated pair is the two halves of each group's matrix",
          "[grouped_gemm][expression]") {
  Experts e;
  e.out.assign(5, -1);
  GroupedGemmArguments args = e.arguments();
  args.out = rows_of(e.out, {5, 1});
  args.expression = parsed("out = gate(sum) * up(sum) + x", "x=f32:per_column");
  const Floats x = {0.25F, 0.5F, 0.75F};
  args.tensors = {{"x", rows_of(x, {3, 1})}};
  for (const bool zero_outside : {false, true}) {
    args.zero_outside = zero_outside;
    const int runs = run_all(args, [&] {
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(e.out[i] == e.sum(i, 0) * e.sum(i, 1) + x[Experts::expert_of(i)]);
      CHECK(e.out[4] == (zero_outside ? 0 : -1));
      e.out.assign(5, -1);
    });
    CHECK(runs > 0);
  }
}

TEST_CASE("grouped_gemm: tensors of masked groups are batches, or the same for all",
          "[grouped_gemm][expression]") {
  const Floats a = {1, 2, 3, 4};  // 2 groups of 2 rows
  const Floats b = {10, 100};
  const std::vector<std::int32_t> counts = {2, 1};
  Floats out(4, -1);
  const Floats of_rows = {0.5F, 0.25F}, of_all_rows = {1, 2, 3, 4};
  GroupedGemmArguments args = {.a = rows_of(a, {2, 2, 1}),
                               .b = rows_of(b, {2, 1, 1}),
                               .out = rows_of(out, {2, 2, 1}),
                               .sizes = TensorView::vector(counts.data(), DType::s32, 2),
                               .sizes_are = SizesAre::counts};
  args.expression = parsed("out = sum * x + y", "x=f32:per_row,y=f32:per_row");
  args.tensors = {{"x", vector_of(of_rows)}, {"y", rows_of(of_all_rows, {2, 2})}};
  run_all(args, [&] {
    CHECK(out == Floats{10 * 0.5F + 1, 20 * 0.25F + 2, 300 * 0.5F + 3, -1});
    out.assign(4, -1);
  });
}

TEST_CASE("grouped_gemm: an empty group of ragged K is the expression of 0", "[grouped_gemm][expression]") {
  const Floats a = {1, 2, 3}, b = {4, 5, 6};
  const std::vector<std::int32_t> counts = {1, 0, 2};
  Floats out(3, -1);
  GroupedGemmArguments args = {.a = rows_of(a, {1, 3}),
                               .b = rows_of(b, {3, 1}),
                               .out = rows_of(out, {3, 1, 1}),
                               .sizes = TensorView::vector(counts.data(), DType::s32, 3),
                               .sizes_are = SizesAre::counts};
  const Floats x = {7, 8, 9};
  args.expression = parsed("out = (sum + 1) * x", "x=f32:per_column");
  args.tensors = {{"x", rows_of(x, {3, 1})}};
  run_all(args, [&] {
    CHECK(out == Floats{(4 + 1) * 7, 8, (10 + 18 + 1) * 9});
    out.assign(3, -1);
  });
}

TEST_CASE("grouped_gemm: an input of an expression may be the output itself", "[grouped_gemm][expression]") {
  Experts e;
  GroupedGemmArguments args = e.arguments();
  args.expression = parsed("out = sum + x", "x=f32:row");
  args.tensors = {{"x", args.out}};
  e.out.assign(10, 7);
  REQUIRE(find_best(args)->run(args));
  for (std::size_t i = 0; i < 8; ++i) CHECK(e.out[i] == e.sum(i / 2, i % 2) + 7);
  CHECK((e.out[8] == 7 && e.out[9] == 7));
}

TEST_CASE("grouped_gemm: vectors of groups are not the output, though they have its extents",
          "[grouped_gemm][expression]") {
  const Floats tokens = {0, 0}, weights = {0, 0};
  Floats out = {1, 2};
  const std::vector<std::int32_t> ends = {2, 2};  // both rows are of the first group
  GroupedGemmArguments args = {.a = rows_of(tokens, {2, 1}),
                               .b = rows_of(weights, {2, 1, 1}),
                               .out = rows_of(out, {2, 1}),
                               .sizes = TensorView::vector(ends.data(), DType::s32, 2)};
  args.expression = parsed("out = sum + v * 10", "v=f32:per_column");
  args.tensors = {{"v", rows_of(out, {2, 1})}};
  check_nothing_found(args, "`v` overlaps `out`");
  args.expression = parsed("out = sum + v * 10", "v=f32:row");
  REQUIRE(find_best(args)->run(args));
  CHECK(out == Floats{10, 20});
}

TEST_CASE("grouped_gemm: tensors that do not fit the expression are refused by name",
          "[grouped_gemm][expression]") {
  const TensorView column = TensorView::vector(nullptr, DType::f16, 48);
  REQUIRE_FALSE(get_kernels(with("out = sum + x", "x=f16:per_column", {{"x", column}})).empty());
  const auto refused = [](TensorView x, const std::string& shape, const std::string& words) {
    check_nothing_found(with("out = sum + x", "x=f16:" + shape, {{"x", x}}), words);
  };
  refused(TensorView::row_major(nullptr, DType::f16, {3, 48}), "per_column",
          "Operand `x` does not fit `out` along the batch: expected 4 or 1, got 3");
  refused(TensorView::row_major(nullptr, DType::f16, {4, 47}), "per_column",
          "Operand `x` does not fit `out` along columns: expected 48 or 1, got 47");
  refused(TensorView::row_major(nullptr, DType::f16, {4, 64}), "per_row",
          "does not fit `out` along the batch");
  refused(TensorView::row_major(nullptr, DType::f16, {4, 64, 48}), "row",
          "does not fit `out` along the batch");
  refused(TensorView::vector(nullptr, DType::f16, 63), "per_row", "expected 64 or 1, got 63");
  check_nothing_found(with("out = sum + x", "x=f16:per_column", {}), "Operand `x` is missing");
  GroupedGemmArguments none = fake();
  none.tensors = {{"x", column}};
  check_nothing_found(none, "Operand `x` is given without an expression");
}

TEST_CASE("grouped_gemm: what cannot stand beside an expression is refused", "[grouped_gemm][expression]") {
  GroupedGemmArguments args = with("out = sum", "", {});
  args.epilogue.activation = Activation::relu;
  check_nothing_found(args, "`activation` stands beside an expression");
  args = with("out = sum", "", {});
  args.a_scale = TensorView::row_major(nullptr, DType::f32, {1, 1});
  check_nothing_found(args, "`a_scale` stands beside an expression");
  const TensorView f32_rows = TensorView::vector(nullptr, DType::f32, 64);
  check_nothing_found(with("out = sum + sizes", "sizes=f32:per_row", {{"sizes", f32_rows}}),
                      "a tensor `sizes`, which is the name of an operand");
  check_nothing_found(with("out = silu(gate(sum)) * up(sum)", "", {}),
                      "Operand `b`");  // which has as many columns as the output
  args = with("out = silu(gate8(sum)) * up8(sum)", "", {});
  args.out = TensorView::row_major(nullptr, DType::f16, {64, 24});
  check_nothing_found(args, "Gated pairs in blocks of eight columns are not computed by kernels of grouped",
                      StatusCode::unsupported);
  args = with("out = sum", "", {});
  args.accumulator = DType::f64;
  check_nothing_found(args, "`sum` is f32, but sums of f64 are f64");
}

TEST_CASE("grouped_gemm: kernels that take scales name the expression as what they do not take",
          "[grouped_gemm][expression]") {
  GroupedGemmArguments args = fake();
  args.a.dtype = args.b.dtype = DType::e4m3;
  args.out.dtype = DType::bf16;
  args.expression = parsed("out = sum", "");
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  for (const Candidate& kernel : found) CHECK(kernel.metadata().operands.scales == ScaleSupport::none);
  const Filter scaled = *Filter::parse("operands.scales == block_scales");
  CHECK(get_kernels(args, scaled).empty());
}

TEST_CASE("grouped_gemm: an answer that is remembered is that of the expression",
          "[grouped_gemm][expression]") {
  const GroupedGemmArguments plain = fake();
  const GroupedGemmArguments one = with("out = sum + 1", "", {});
  const GroupedGemmArguments two = with("out = sum + 2", "", {});
  using Rules = detail::grouped_gemm::Rules;
  const auto word = [](const GroupedGemmArguments& args) {
    GroupedGemmProblem problem;
    Rules::describe(args, problem);
    return Rules::expression_word(problem);
  };
  CHECK(word(plain) == 0);
  CHECK(word(one) != word(two));
}
