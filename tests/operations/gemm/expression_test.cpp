/// GEMMs with expressions on the host, and what stands between arguments and kernels.
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "gemm/expression_params.hpp"
#include "operations/common/expression/interned.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::parsed;
using test::run_all;

/// Two rows, three columns, two products: sums of {{1, 2, 3}, {4, 5, 6}}.
constexpr float a[] = {1, 0, 0, 1};
constexpr float b[] = {1, 2, 3, 4, 5, 6};

GemmArguments product(float* out, Layout layout = Layout::row) {
  GemmArguments args = {.a = TensorView::row_major(a, DType::f32, {2, 2}),
                        .b = TensorView::row_major(b, DType::f32, {2, 3}),
                        .out = TensorView::row_major(out, DType::f32, {2, 3})};
  if (layout == Layout::column) args.out = TensorView::column_major(out, DType::f32, {2, 3});
  return args;
}

}  // namespace

TEST_CASE("gemm: an expression reads tensors of every shape and writes several", "[gemm][expression]") {
  const float row[] = {10, 20};
  const float column[] = {100, 200, 300};
  const float matrix[] = {1000, 2000, 3000, 4000, 5000, 6000};
  std::array<float, 6> out = {};
  std::array<int, 6> twice = {};
  for (const Layout layout : {Layout::row, Layout::column}) {
    GemmArguments args = product(out.data(), layout);
    args.expression = parsed("twice = sum * 2; out = sum + r + c + m * s",
                             "r=f32:per_row,c=f32:per_column,m=f32:row,s=f32:scalar,twice=s32:row");
    args.tensors = {{"c", TensorView::vector(column, DType::f32, 3)},
                    {"m", TensorView::row_major(matrix, DType::f32, {2, 3})},
                    {"twice", TensorView::row_major(twice.data(), DType::s32, {2, 3})},
                    {"r", TensorView::vector(row, DType::f32, 2)},
                    {"s", {}, 0.5}};
    const std::array<float, 6> rows = {611, 1212, 1813, 2124, 2725, 3326};
    const std::array<float, 6> columns = {611, 2124, 1212, 2725, 1813, 3326};
    CHECK(run_all(args, [&] {
            CHECK(out == (layout == Layout::row ? rows : columns));
            CHECK(twice == std::array<int, 6>{2, 4, 6, 8, 10, 12});
            out = {};
            twice = {};
          }) > 0);
  }
}

TEST_CASE("gemm: an input of an expression may be the output, or a matrix of a batch", "[gemm][expression]") {
  std::array<float, 6> out = {1, 1, 1, 2, 2, 2};
  GemmArguments args = product(out.data());
  args.expression = parsed("out = sum + x", "x=f32:row");
  args.tensors = {{"x", args.out}};
  REQUIRE(find_best(args)->run(args));
  CHECK(out == std::array<float, 6>{2, 3, 4, 6, 7, 8});

  std::array<float, 12> batch = {};
  const float of_entry[] = {100, 200};
  GemmArguments both = {
      .a = args.a, .b = args.b, .out = TensorView::row_major(batch.data(), DType::f32, {2, 2, 3})};
  both.expression = parsed("out = sum + e", "e=f32:row");
  both.tensors = {{"e", TensorView::row_major(of_entry, DType::f32, {2, 1, 1})}};
  REQUIRE(find_best(both)->run(both));
  CHECK(batch == std::array<float, 12>{101, 102, 103, 104, 105, 106, 201, 202, 203, 204, 205, 206});
}

TEST_CASE("gemm: an index chooses rows of a table, whichever way it and the output lie",
          "[gemm][expression]") {
  const float table[] = {10, 20, 30, 40, 50, 60, 70, 80, 90};
  std::array<int, 2> index = {2, 0};
  std::array<float, 6> out = {};
  for (const Layout layout : {Layout::row, Layout::column}) {
    for (const bool by_columns : {false, true}) {
      GemmArguments args = product(out.data(), layout);
      args.expression =
          parsed("out = sum + t[i] * s[j]", "t=f32:gathered,i=s32:per_row,s=f32:gathered,j=s32:per_row");
      const TensorView t = by_columns ? TensorView::column_major(table, DType::f32, {3, 3})
                                      : TensorView::row_major(table, DType::f32, {3, 3});
      const float factors[] = {1, 2};  // a table of one column, and one index for all rows
      const int all = 1;
      args.tensors = {{"i", TensorView::vector(index.data(), DType::s32, 2)},
                      {"j", TensorView::vector(&all, DType::s32, 1)},
                      {"s", TensorView::row_major(factors, DType::f32, {2, 1})},
                      {"t", t}};
      const auto at = [&](int row, int column) {
        return table[by_columns ? column * 3 + row : row * 3 + column];
      };
      for (const int first : {2, 3, -1, 2147483647, -2147483647 - 1}) {
        index[0] = first;
        const int runs = run_all(args, [&] {
          for (int row = 0; row < 2; ++row) {
            for (int column = 0; column < 3; ++column) {
              const bool is_row =
                  index[static_cast<std::size_t>(row)] >= 0 && index[static_cast<std::size_t>(row)] < 3;
              const float chosen = is_row ? at(index[static_cast<std::size_t>(row)], column) : 0;
              const float sum = static_cast<float>(row * 3 + column + 1);
              CHECK(out[static_cast<std::size_t>(
                        layout == Layout::row ? row * 3 + column : column * 2 + row)] == sum + chosen * 2);
            }
          }
          out = {};
        });
        CHECK(runs > 0);
      }
    }
  }
}

TEST_CASE("gemm: tables of a batch, of the whole batch, and without rows", "[gemm][expression]") {
  std::array<float, 12> out = {};
  const float table[] = {10, 20, 100, 200};
  const std::array<int, 4> index = {1, 0, 0, 1};
  const GemmArguments one = product(out.data());
  GemmArguments args = {
      .a = one.a, .b = one.b, .out = TensorView::row_major(out.data(), DType::f32, {2, 2, 3})};
  args.expression = parsed("out = 0 * sum + t[i]", "t=f32:gathered,i=s32:per_row");
  args.tensors = {{"t", TensorView::row_major(table, DType::f32, {2, 2, 1})},
                  {"i", TensorView::row_major(index.data(), DType::s32, {2, 2})}};
  run_all(args, [&] {
    CHECK(out == std::array<float, 12>{20, 20, 20, 10, 10, 10, 100, 100, 100, 200, 200, 200});
    out = {};
  });
  args.tensors[0].view = TensorView::row_major(table, DType::f32, {2, 1});
  run_all(args, [&] {
    CHECK(out == std::array<float, 12>{20, 20, 20, 10, 10, 10, 10, 10, 10, 20, 20, 20});
    out = {};
  });
  args.tensors[0].view = TensorView::row_major(nullptr, DType::f32, {0, 3});
  run_all(args, [&] {
    CHECK(out == std::array<float, 12>{});
    out.fill(1);
  });
}

TEST_CASE("gemm: tables and indices that do not fit are refused", "[gemm][expression]") {
  std::array<float, 9> out = {};
  const std::array<int, 4> index = {};
  GemmArguments args = product(out.data());
  args.expression = parsed("out = sum + t[i]", "t=f32:gathered,i=s32:per_row");
  const ExpressionTensor i = {"i", TensorView::vector(index.data(), DType::s32, 2)};
  const std::array<float, 9> t = {};
  const auto refused = [&](const ExpressionTensor& table, const ExpressionTensor& by,
                           const std::string& words) {
    args.tensors = {table, by};
    test::check_nothing_found(args, words);
  };
  refused({"t", TensorView::vector(t.data(), DType::f32, 3)}, i,
          "Operand `t` is gathered: expected a matrix, of rank 2 or more, got rank 1");
  refused({"t", TensorView::row_major(t.data(), DType::f32, {4, 2})}, i,
          "Operand `t` does not fit `out` along columns: expected 3 or 1, got 2");
  refused({"t", TensorView::row_major(t.data(), DType::f32, {2, 1, 3})}, i, "along the batch");
  refused({"t", TensorView::row_major(t.data(), DType::bf16, {4, 3})}, i, "is declared f32, but is of bf16");
  refused({"t", {}, 0.5}, i, "`t`");
  const ExpressionTensor table = {"t", TensorView::row_major(t.data(), DType::f32, {3, 3})};
  refused(table, {"i", TensorView::vector(index.data(), DType::s32, 3)}, "`i` does not fit `out` along rows");
  refused(table, {"i", TensorView::vector(index.data(), DType::f32, 2)}, "is declared s32, but is of f32");
  refused(table, {"i", {}, 1}, "`i`");
  refused({"t", args.out}, i, "`t`");  // whose rows other rows of `out` may read
}

TEST_CASE("gemm: sums of bytes are whole numbers in an expression", "[gemm][expression]") {
  const signed char bytes_a[] = {100, 100};
  const signed char bytes_b[] = {100, 100};
  std::array<signed char, 1> out = {};
  GemmArguments args = {.a = TensorView::row_major(bytes_a, DType::s8, {1, 2}),
                        .b = TensorView::row_major(bytes_b, DType::s8, {2, 1}),
                        .out = TensorView::row_major(out.data(), DType::s8, {1, 1})};
  args.expression = parsed("out = f32(sum) * s", "s=f32:scalar", DType::s32);
  args.tensors = {{"s", {}, 0.001}};
  run_all(args, [&] {
    CHECK(out[0] == 20);
    out = {};
  });
  args.tensors = {{"s", {}, 1}};
  run_all(args, [&] { CHECK(out[0] == 127); });
}

TEST_CASE("gemm: a plan with an expression runs on other tensors", "[gemm][expression]") {
  std::array<float, 6> out = {};
  const float one[] = {1, 2, 3};
  const float other[] = {10, 20, 30};
  GemmArguments args = product(out.data());
  args.expression = parsed("out = sum + c", "c=f32:per_column");
  args.tensors = {{"c", TensorView::vector(one, DType::f32, 3)}};
  const Result<Plan> plan = find_best(args)->prepare(args);
  REQUIRE(plan);
  REQUIRE(plan->run(
      {{Operand::a, a}, {Operand::b, b}, {tensor_operand(0), other}, {Operand::out, out.data()}}, nullptr));
  CHECK(out == std::array<float, 6>{11, 22, 33, 14, 25, 36});
}

TEST_CASE("gemm: a tensor of an expression without memory is refused when it is run", "[gemm][expression]") {
  std::array<float, 6> out = {};
  GemmArguments args = product(out.data());
  args.expression = parsed("out = sum + c", "c=f32:per_column");
  args.tensors = {{"c", TensorView::vector(nullptr, DType::f32, 3)}};
  const Result<Candidate> best = find_best(args);
  REQUIRE(best);
  const Status status = best->run(args);
  CHECK_FALSE(status);
  CHECK(status.operand() == tensor_operand(0));
  CHECK(out == std::array<float, 6>{});
}

TEST_CASE("gemm: an output without elements needs nothing", "[gemm][expression]") {
  GemmArguments args = {.a = TensorView::row_major(nullptr, DType::f32, {0, 2}),
                        .b = TensorView::row_major(b, DType::f32, {2, 3}),
                        .out = TensorView::row_major(nullptr, DType::f32, {0, 3})};
  args.expression = parsed("out = relu(sum)", "");
  run_all(args, [] {});
}

TEST_CASE("gemm: K of 0 leaves the expression of 0", "[gemm][expression]") {
  std::array<float, 2> out = {};
  GemmArguments args = {.a = TensorView::row_major(nullptr, DType::f32, {1, 0}),
                        .b = TensorView::row_major(nullptr, DType::f32, {0, 2}),
                        .out = TensorView::row_major(out.data(), DType::f32, {1, 2})};
  args.expression = parsed("out = exp(sum) + 1", "");
  run_all(args, [&] {
    CHECK(out == std::array<float, 2>{2, 2});
    out = {};
  });
}

TEST_CASE("gemm: the registered kernels take expressions, however they cut K", "[gemm][expression]") {
  GemmArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {64, 65536}),
                        .b = TensorView::row_major(nullptr, DType::bf16, {65536, 64}),
                        .out = TensorView::row_major(nullptr, DType::bf16, {64, 64})};
  const auto plain = get_kernels(args);
  args.expression = parsed("out = relu(sum)", "");
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  CHECK(found.size() == plain.size());
  for (const Candidate& kernel : found) {
    INFO(kernel.name());
    CHECK(kernel.supports(args));
  }
  args.controls = {.split_k_slices = 4};
  for (const Candidate& kernel : get_kernels(args)) {
    INFO(kernel.name());
    CHECK(kernel.controls().mode != Mode::gemm);
    CHECK(kernel.supports(args));
  }
}

TEST_CASE("gemm: the answer with an expression is not that without", "[gemm][expression]") {
  // The same question with another expression, asked in turns, so that answers are remembered.
  GemmArguments plain = {.a = TensorView::row_major(nullptr, DType::bf16, {64, 16384}),
                         .b = TensorView::row_major(nullptr, DType::bf16, {16384, 64}),
                         .out = TensorView::row_major(nullptr, DType::bf16, {64, 64})};
  GemmArguments with = plain;
  with.expression = parsed("out = relu(sum)", "");
  const std::string_view name = get_kernels(with).front().name();
  for (int i = 0; i < 3; ++i) {
    REQUIRE(find_best(plain));
    const Result<Candidate> best = find_best(with);
    REQUIRE(best);
    CHECK(best->name() == name);
  }
}

TEST_CASE("gemm: code has the expression's types in the order of parameters", "[gemm][expression]") {
  const Expression e = parsed("y = sum * x; out = y + z", "x=bf16:row,z=f32:row,y=f16:row,out=bf16:row");
  const Result<std::string> code = detail::gemm::code_of(e, "name");
  REQUIRE(code);
  CHECK(code->find("struct name {") != std::string::npos);
  CHECK(code->find("static constexpr int inputs = 2;") != std::string::npos);
  CHECK(code->find("static constexpr int tensors = 3;") != std::string::npos);
  CHECK(code->find("out = DType::bf16;") != std::string::npos);
  CHECK(code->find("i == 0 ? DType::bf16 : i == 1 ? DType::f32 : DType::f16") != std::string::npos);
  CHECK(code->find("lane.template output<2>(out.out0);\n    lane.out(out.out1);") != std::string::npos);
}

TEST_CASE("gemm: code says which inputs are vectors, and computes activations roughly for few bits",
          "[gemm][expression]") {
  const auto code_of = [](const char* with) {
    return *detail::gemm::code_of(parsed("out = gelu(sum + c) * m + r", with), "name");
  };
  const std::string code = code_of("m=bf16:row,c=f32:per_column,r=f16:per_row,out=bf16:row");
  INFO(code);
  CHECK(code.find("is_vector([[maybe_unused]] int i) { return i == 0 || i == 2; }") != std::string::npos);
  CHECK(code.find("operations = 4;") != std::string::npos);
  CHECK(code.find("elementary::roughly::gelu(") != std::string::npos);
  const std::string whole = code_of("m=bf16:row,c=f32:row,r=f16:col,out=f32:row");
  CHECK(whole.find("is_vector([[maybe_unused]] int i) { return false; }") != std::string::npos);
  CHECK(whole.find("elementary::gelu(") != std::string::npos);
  CHECK(whole.find("roughly") == std::string::npos);
}
