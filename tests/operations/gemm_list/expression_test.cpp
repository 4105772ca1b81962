/// Lists of GEMMs with expressions: against the GEMM of each problem, by heart in every kernel that takes
/// them, and what is refused.
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm_list/floats.hpp"
#include "operations/gemm_list/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/run_best.hpp"

using namespace quarry;

namespace {

using test::check_nothing_found;
using test::Floats;
using test::is_same;
using test::parsed;
using test::random_values;
using test::rows_of;
using test::run_all;
using test::run_best;

/// Two problems of K = 1 within 3x2: one of 3x2, one of 1x1, whose rows are 10 apart in memory.
struct Two {
  Floats a = {1, 2, 3, 4, 0, 0};
  Floats b = {10, 100, 5, 0};
  Floats out = Floats(2 * 3 * 2, -1);
  std::vector<std::int32_t> sizes = {3, 2, 1, 1, 1, 1};

  GemmListArguments arguments() const {
    return {.a = rows_of(a, {2, 3, 1}),
            .b = rows_of(b, {2, 1, 2}),
            .out = rows_of(out, {2, 3, 2}),
            .sizes = TensorView::row_major(sizes.data(), DType::s32, {2, 3})};
  }
};

/// A list without memory: four problems within 64x48x32.
GemmListArguments fake(DType type = DType::f16) {
  return {.a = TensorView::row_major(nullptr, type, {4, 64, 32}),
          .b = TensorView::row_major(nullptr, type, {4, 32, 48}),
          .out = TensorView::row_major(nullptr, DType::f16, {4, 64, 48}),
          .sizes = TensorView::row_major(nullptr, DType::s32, {4, 3})};
}

GemmListArguments with(std::string_view text, std::string_view declared,
                       std::vector<ExpressionTensor> tensors) {
  GemmListArguments args = fake();
  args.expression = parsed(text, declared);
  args.tensors = std::move(tensors);
  return args;
}

}  // namespace

TEST_CASE("gemm_list: a list with an expression is the GEMM of each problem, bit for bit",
          "[gemm_list][expression]") {
  constexpr std::int64_t count = 4, m = 70, n = 66, k = 40;
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const Floats a = random_values(count * m * k, random);
  const Floats b = random_values(count * k * n, random);
  const Floats matrix = random_values(count * m * n, random);
  const Floats row = random_values(m, random), column = random_values(count * n, random);
  Floats out(count * m * n, -7), z(count * m * n, -7), expected_out = out, expected_z = z;
  std::vector<const void*> out_pointers;
  for (std::int64_t i = 0; i < count; ++i) out_pointers.push_back(out.data() + i * m * n);
  const std::vector<std::int32_t> sizes = {70, 66, 40, 5, 3, 7, 64, 1, 0, 0, 66, 40};
  std::vector<std::int32_t> leading;
  for (std::size_t i = 0; i < count; ++i)
    leading.insert(leading.end(), {sizes[3 * i + 2], sizes[3 * i + 1], 0, sizes[3 * i + 1]});
  const Expression expression =
      parsed("z = sum + column; out = gelu(z) * x - row * s",
             "column=f32:per_column,row=f32:per_row,x=f32:row,s=f32:scalar,z=f32:row");
  GemmListArguments args = {
      .a = rows_of(a, {count, m, k}),
      .b = rows_of(b, {count, k, n}),
      .out = PointerArrayView::row_major(out_pointers.data(), DType::f32, count, {m, n}),
      .sizes = TensorView::row_major(sizes.data(), DType::s32, {count, 3}),
      .leading = TensorView::row_major(leading.data(), DType::s32, {count, 4})};
  args.expression = expression;
  args.tensors = {{"column", rows_of(column, {count, n})},
                  {"row", rows_of(row, {m})},
                  {"x", rows_of(matrix, {count, m, n})},
                  {"s", {}, 0.25},
                  {"z", rows_of(z, {count, m, n})}};
  const Status done = run_best(args);
  INFO(done.message());
  REQUIRE(done);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t* const own = sizes.data() + 3 * i;
    if (own[0] == 0) continue;
    const auto strided = [](const float* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
      return TensorView::row_major(data, DType::f32, {rows, columns}, ld);
    };
    GemmArguments gemm = {.a = strided(a.data() + i * m * k, own[0], own[2], std::max(own[2], 1)),
                          .b = strided(b.data() + i * k * n, own[2], own[1], own[1]),
                          .out = strided(expected_out.data() + i * m * n, own[0], own[1], own[1]),
                          .controls = {.mode = Mode::gemm}};
    gemm.expression = expression;
    gemm.tensors = {{"column", TensorView::vector(column.data() + i * n, DType::f32, own[1])},
                    {"row", TensorView::vector(row.data(), DType::f32, own[0])},
                    {"x", strided(matrix.data() + i * m * n, own[0], own[1], n)},
                    {"s", {}, 0.25},
                    {"z", strided(expected_z.data() + i * m * n, own[0], own[1], n)}};
    const CandidateList found = get_kernels(gemm, *Filter::parse("family == gemm_simt and tile.m == 64"));
    REQUIRE_FALSE(found.empty());
    REQUIRE(Kernel(found.front()).run(gemm));
  }
  CHECK(is_same(out, expected_out));
  CHECK(is_same(z, expected_z));
}

TEST_CASE("gemm_list: every kernel gives problems their own tensors, or one for all",
          "[gemm_list][expression]") {
  Two two;
  GemmListArguments args = two.arguments();
  const Floats row = {1, 2, 3, 4, 5, 6}, column = {0.5F, 0.25F}, each = {1000, 2000};
  Floats z(12, -1);
  args.expression = parsed("z = sum + row; out = z * column + each",
                           "row=f32:per_row,column=f32:per_column,each=f32:per_column,z=f32:row");
  args.tensors = {{"row", rows_of(row, {2, 3})},
                  {"column", rows_of(column, {2})},
                  {"each", rows_of(each, {2, 1})},
                  {"z", rows_of(z, {2, 3, 2})}};
  const int runs = run_all(args, [&] {
    CHECK(z == Floats{11, 101, 22, 202, 33, 303, 24, -1, -1, -1, -1, -1});
    CHECK(two.out == Floats{1005.5F, 1025.25F, 1011, 1050.5F, 1016.5F, 1075.75F, 2012, -1, -1, -1, -1, -1});
    z.assign(12, -1);
    two.out.assign(12, -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("gemm_list: a problem without K is the expression of 0", "[gemm_list][expression]") {
  Two two;
  two.sizes[5] = 0;
  GemmListArguments args = two.arguments();
  args.expression = parsed("out = (sum + 1) * 3", "");
  run_all(args, [&] {
    CHECK((two.out[0] == 33 && two.out[6] == 3 && two.out[7] == -1));
    two.out.assign(12, -1);
  });
}

TEST_CASE("gemm_list: an input of an expression may be the output itself, line by line",
          "[gemm_list][expression]") {
  Two two;
  GemmListArguments args = two.arguments();
  args.expression = parsed("out = sum + x", "x=f32:row");
  args.tensors = {{"x", args.out}};
  two.out.assign(12, 7);
  REQUIRE(run_best(args));
  CHECK(two.out == Floats{17, 107, 27, 207, 37, 307, 27, 7, 7, 7, 7, 7});
  // With leading dimensions of their own, its lines would lie elsewhere.
  const std::vector<std::int32_t> same = {1, 2, 0, 2, 1, 2, 0, 2};
  args.leading = TensorView::row_major(same.data(), DType::s32, {2, 4});
  CHECK(run_best(args));
  two.sizes[1] = 1;
  const std::vector<std::int32_t> packed = {1, 2, 0, 1, 1, 2, 0, 2};
  args.leading = TensorView::row_major(packed.data(), DType::s32, {2, 4});
  const Status refused = run_best(args);
  CHECK(refused.code() == StatusCode::invalid_arguments);
  CHECK(refused.message() == "Operand `x` of problem 0 overlaps `out` of problem 0");
}

TEST_CASE("gemm_list: tensors that overlap outputs of an array of pointers are refused on the host",
          "[gemm_list][expression]") {
  Two two;
  GemmListArguments args = two.arguments();
  Floats z(12, -1);
  std::vector<const void*> pointers = {two.out.data(), two.out.data() + 6};
  args.out = PointerArrayView::row_major(pointers.data(), DType::f32, 2, {3, 2});
  args.expression = parsed("z = sum + x; out = z", "x=f32:row,z=f32:row");
  const Floats x(12, 1);
  args.tensors = {{"x", rows_of(x, {2, 3, 2})}, {"z", rows_of(z, {2, 3, 2})}};
  CHECK(run_best(args));
  const auto refused = [&](const std::string& message) {
    const Status status = run_best(args);
    CHECK(status.code() == StatusCode::invalid_arguments);
    CHECK(status.message() == message);
  };
  pointers[1] = z.data() + 1;
  refused("Operand `out` of problem 1 overlaps `z` of problem 0");
  pointers[1] = x.data() + 2;
  refused("Operand `x` of problem 0 overlaps `out` of problem 1");
  pointers[1] = x.data() + 6;  // its own entry: in place
  CHECK(run_best(args));
}

TEST_CASE("gemm_list: what many elements of an output of pointers read is not the output itself",
          "[gemm_list][expression]") {
  struct Alias {
    std::string_view text;
    std::string_view declared;
    std::vector<std::int64_t> extents;
    bool is_right;
  };
  const Alias alias = GENERATE(values<Alias>({
      {"out = sum + v", "v=f32:per_column", {2}, false},
      {"out = sum + v", "v=f32:per_row", {3}, false},
      {"out = sum + v", "v=f32:scalar", {1}, false},
      {"out = sum + v", "v=f32:row", {1, 2}, false},
      {"out = sum + v", "v=f32:row", {3, 1}, false},
      {"out = sum + v", "v=f32:row", {3, 2}, true},
      {"out = sum + v; r = row_sum(sum)", "v=f32:row,r=f32:per_row", {3, 2}, true},
      {"out = sum + v; r = row_sum(sum)", "v=f32:per_row,r=f32:per_row", {3}, false},
  }));
  INFO(alias.text << " with " << alias.declared);
  for (const bool is_array : {false, true}) {
    Floats out(6, 100);
    const Floats a = {1, 2, 3}, b = {10, 100};
    const std::vector<const void*> pointers = {out.data()};
    const std::vector<std::int32_t> sizes = {3, 2, 1};
    GemmListArguments args = {.a = rows_of(a, {1, 3, 1}),
                              .b = rows_of(b, {1, 1, 2}),
                              .out = rows_of(out, {1, 3, 2}),
                              .sizes = TensorView::row_major(sizes.data(), DType::s32, {1, 3})};
    if (is_array) args.out = PointerArrayView::row_major(pointers.data(), DType::f32, 1, {3, 2});
    args.expression = parsed(alias.text, alias.declared);
    Floats sums(3);
    const std::vector<std::int64_t> strides = {2, 1};  // of rows of the output
    args.tensors = {{"v", TensorView::strided(out.data(), DType::f32, alias.extents,
                                              std::span(strides).last(alias.extents.size()))}};
    if (!is_array && alias.is_right) args.tensors[0].view = args.out;
    if (alias.declared.find("r=") != alias.declared.npos)
      args.tensors.push_back({"r", rows_of(sums, {1, 3})});
    Status status = find_best(args).status();
    if (const auto found = find_best(args)) {
      const auto workspace = WorkspaceBuffer::on_host(found->workspace());
      REQUIRE(workspace);
      status = found->run(args, {.workspace = *workspace});
    }
    INFO(status.message());
    CHECK(status.code() == (alias.is_right ? StatusCode::ok : StatusCode::invalid_arguments));
    if (!alias.is_right) CHECK(out == Floats(6, 100));
  }
}

TEST_CASE("gemm_list: an index chooses rows of a table of all problems, or of each",
          "[gemm_list][expression]") {
  Two two;
  GemmListArguments args = two.arguments();
  const std::vector<std::int32_t> index = {1, 0, 7, 1, -5, 0};
  const Floats shared = {1000, 2000, 3000, 4000};
  const Floats of_each = {1, 2, 3, 4, 5, 6, 7, 8};
  args.expression =
      parsed("out = sum + shared[i] + own[i]", "shared=f32:gathered,own=f32:gathered,i=s32:per_row");
  args.tensors = {{"i", TensorView::row_major(index.data(), DType::s32, {2, 3})},
                  {"shared", rows_of(shared, {2, 2})},
                  {"own", rows_of(of_each, {2, 2, 2})}};
  const int runs = run_all(args, [&] {
    CHECK(two.out ==
          Floats{10 + 3003, 100 + 4004, 20 + 1001, 200 + 2002, 30, 300, 20 + 3007, -1, -1, -1, -1, -1});
    two.out.assign(12, -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("gemm_list: a table is never the output, and has rows of its own", "[gemm_list][expression]") {
  Two two;
  GemmListArguments args = two.arguments();
  std::vector<const void*> pointers = {two.out.data(), two.out.data() + 6};
  args.out = PointerArrayView::row_major(pointers.data(), DType::f32, 2, {3, 2});
  args.expression = parsed("out = sum + t[i]", "t=f32:gathered,i=s32:per_row");
  const std::vector<std::int32_t> index = {0, 0, 0};
  Floats table(10, 5);
  args.tensors = {{"i", TensorView::vector(index.data(), DType::s32, 3)}, {"t", rows_of(table, {2, 2})}};
  pointers[1] = table.data() + 4;  // behind its two rows, of which the first problem has three
  CHECK(run_best(args));
  pointers[1] = table.data() + 3;
  CHECK(run_best(args).message() == "Operand `t` of problem 0 overlaps `out` of problem 1");
  pointers[1] = two.out.data() + 6;
  args.tensors[1] = {"t", rows_of(two.out, {3, 2})};
  CHECK(run_best(args).message() == "Operand `t` of problem 0 overlaps `out` of problem 0");
}

TEST_CASE("gemm_list: tensors that do not fit the expression are refused by name",
          "[gemm_list][expression]") {
  const TensorView column = TensorView::vector(nullptr, DType::f16, 48);
  REQUIRE_FALSE(get_kernels(with("out = sum + x", "x=f16:per_column", {{"x", column}})).empty());
  const auto refused = [](TensorView x, const std::string& shape, const std::string& words) {
    check_nothing_found(with("out = sum + x", "x=f16:" + shape, {{"x", x}}), words);
  };
  refused(TensorView::row_major(nullptr, DType::f16, {3, 48}), "per_column",
          "Operand `x` does not fit `out` along the batch: expected 4 or 1, got 3");
  refused(TensorView::row_major(nullptr, DType::f16, {4, 47}), "per_column",
          "Operand `x` does not fit `out` along columns: expected 48 or 1, got 47");
  refused(TensorView::row_major(nullptr, DType::f16, {3, 64}), "per_row",
          "does not fit `out` along the batch");
  refused(TensorView::row_major(nullptr, DType::f16, {4, 63, 48}), "row", "does not fit `out` along rows");
  refused(PointerArrayView::row_major(nullptr, DType::f16, 4, {64, 48}), "row",
          "Operand `x` is an array of pointers, which expressions do not take");
  check_nothing_found(with("out = sum + x", "x=f16:per_column", {}), "Operand `x` is missing");
  check_nothing_found(
      with("out = sum; z = sum", "z=f16:row", {{"z", TensorView::row_major(nullptr, DType::f16, {64, 48})}}),
      "does not fit `out` along the batch: expected 4, got 1");
  GemmListArguments none = fake();
  none.tensors = {{"x", column}};
  check_nothing_found(none, "Operand `x` is given without an expression");
}

TEST_CASE("gemm_list: what cannot stand beside an expression is refused", "[gemm_list][expression]") {
  GemmListArguments args = with("out = sum", "", {});
  REQUIRE_FALSE(get_kernels(args).empty());
  args.epilogue.activation = Activation::relu;
  check_nothing_found(args, "`activation` stands beside an expression: write it in the expression");
  args = with("out = sum", "", {});
  args.c = args.out;
  check_nothing_found(args, "`c` stands beside an expression");
  args = with("out = sum", "", {});
  args.a_scale = TensorView::row_major(nullptr, DType::f32, {1, 1});
  check_nothing_found(args, "`a_scale` stands beside an expression");
  args = with("out = sum", "", {});
  args.b_scale = TensorView::row_major(nullptr, DType::f32, {1, 1});
  check_nothing_found(args, "`b_scale` stands beside an expression");
  const TensorView rows = TensorView::vector(nullptr, DType::f32, 64);
  for (const std::string name : {"sizes", "leading"})
    check_nothing_found(with("out = sum + " + name, name + "=f32:per_row", {{name, rows}}),
                        "a tensor `" + name + "`, which is the name of an operand of lists of GEMMs");
  check_nothing_found(with("out = sum + a", "a=f32:per_row", {{"a", rows}}), "an operand of the product");
  args = with("out = sum", "", {});
  args.accumulator = DType::f64;
  check_nothing_found(args, "`sum` is f32, but sums of f64 are f64");
}

TEST_CASE("gemm_list: kernels that take scales name the expression as what they do not take",
          "[gemm_list][expression]") {
  GemmListArguments args = fake(DType::e4m3);
  args.out.dtype = DType::bf16;
  args.expression = parsed("out = sum", "");
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  for (const Candidate& kernel : found) CHECK(kernel.metadata().operands.scales == ScaleSupport::none);
  const auto scaled = get_kernels(
      *Filter::parse("operation == gemm_list and operands.scales == block_scales and out.dtype == bf16 and "
                     "family == gemm_list_simt"));
  REQUIRE_FALSE(scaled.empty());
  const GemmListArguments no_k = [&] {
    GemmListArguments empty = args;
    empty.a = TensorView::row_major(nullptr, DType::e4m3, {4, 64, 0});
    empty.b = TensorView::row_major(nullptr, DType::e4m3, {4, 0, 48});
    return empty;
  }();
  bool is_said = false;
  for (const Kernel& kernel : scaled) {
    const Status status = kernel.supports(no_k);
    CHECK_FALSE(status);
    is_said = is_said || status.message().find("The expression is unsupported") != std::string::npos;
  }
  CHECK(is_said);
}

TEST_CASE("gemm_list: an answer that is remembered is that of the expression", "[gemm_list][expression]") {
  using Rules = detail::gemm_list::Rules;
  const auto word = [](const GemmListArguments& args) {
    GemmListProblem problem;
    Rules::describe(args, problem);
    return Rules::expression_word(problem);
  };
  CHECK(word(fake()) == 0);
  CHECK(word(with("out = sum + 1", "", {})) != word(with("out = sum + 2", "", {})));
}
