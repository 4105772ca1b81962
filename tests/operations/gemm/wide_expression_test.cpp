/// GEMMs whose expressions have gated pairs and reductions, on the host; what stands between arguments and
/// kernels; what is refused.
#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "gemm/expression_params.hpp"
#include "operations/gemm/expression_code.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"

using namespace quarry;

namespace {

using test::parsed;
using test::run_all;

/// Two rows, four columns: sums of {{1, 2, 3, 4}, {5, 6, 7, 8}}.
constexpr float wide_a[] = {1, 0, 0, 1};
constexpr float wide_b[] = {1, 2, 3, 4, 5, 6, 7, 8};

GemmArguments product(const TensorView& out) {
  return {.a = TensorView::row_major(wide_a, DType::f32, {2, 2}),
          .b = TensorView::row_major(wide_b, DType::f32, {2, 4}),
          .out = out};
}

float silu(float x) { return x / (1 + std::exp(-x)); }

GemmArguments large(std::string_view text, std::string_view with, std::int64_t n = 256,
                    Layout layout = Layout::row) {
  GemmArguments args = {.a = test::matrix(DType::bf16, 64, 64),
                        .b = TensorView::column_major(nullptr, DType::bf16, {64, n}),
                        .out = test::matrix(DType::bf16, 64, n)};
  if (layout == Layout::column) args.out = TensorView::column_major(nullptr, DType::bf16, {64, n});
  args.expression = parsed(text, with);
  return args;
}

}  // namespace

TEST_CASE("gemm: SwiGLU of both halves of a product", "[gemm][expression]") {
  std::array<float, 4> out = {};
  GemmArguments args = product(TensorView::row_major(out.data(), DType::f32, {2, 2}));
  args.expression = parsed("out = silu(gate(sum)) * up(sum)", "");
  CHECK(run_all(args, [&] {
          const float expected[] = {silu(1) * 3, silu(2) * 4, silu(5) * 7, silu(6) * 8};
          for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(out[i] - expected[i]) < 1e-4F);
          out = {};
        }) > 0);
}

TEST_CASE("gemm: pairs in blocks of eight columns are those in halves, whose columns are put by turns",
          "[gemm][expression]") {
  constexpr int m = 5;
  constexpr int n = 48;  // of B
  std::vector<float> a(m);
  std::vector<float> b(n);
  for (int i = 0; i < m; ++i) a[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
  for (int i = 0; i < n; ++i) b[static_cast<std::size_t>(i)] = static_cast<float>(i % 13) - 6;
  std::vector<float> out(m * n / 2);
  std::array<float, m> rows = {};
  GemmArguments args = {.a = TensorView::row_major(a.data(), DType::f32, {m, 1}),
                        .b = TensorView::row_major(b.data(), DType::f32, {1, n}),
                        .out = TensorView::row_major(out.data(), DType::f32, {m, n / 2})};
  args.expression = parsed("out = gate8(sum) - 3 * up8(sum); rows = row_sum(gate8(sum))", "rows=f32:per_row");
  args.tensors = {{"rows", TensorView::vector(rows.data(), DType::f32, m)}};
  CHECK(run_all(args, [&] {
          for (int i = 0; i < m; ++i) {
            float total = 0;
            for (int j = 0; j < n / 2; ++j) {
              const auto gate = static_cast<std::size_t>(j / 8 * 16 + j % 8);
              const float factor = a[static_cast<std::size_t>(i)];
              CHECK(out[static_cast<std::size_t>(i * n / 2 + j)] == factor * (b[gate] - 3 * b[gate + 8]));
              total += factor * b[gate];
            }
            CHECK(rows[static_cast<std::size_t>(i)] == total);
          }
          std::fill(out.begin(), out.end(), 0.F);
          rows = {};
        }) > 0);
}

TEST_CASE("gemm: pairs in blocks of eight columns need whole ones, and no halves of tiles",
          "[gemm][expression]") {
  GemmArguments args = large("out = gate8(sum) * up8(sum)", "");
  args.out = test::matrix(DType::bf16, 64, 128);
  const auto found = get_kernels(args);
  std::set<std::string_view> families;
  for (const Candidate& kernel : found) families.insert(kernel.metadata().family);
  CHECK(families == std::set<std::string_view>{"gemm_simt", "gemm_sm80", "gemm_sm90"});
  GemmArguments halves = args;
  halves.expression = parsed("out = gate(sum) * up(sum)", "");
  CHECK(found.size() > get_kernels(halves).size());  // threads copy B, too
  GemmArguments odd = large("out = gate8(sum) * up8(sum)", "", 264);
  odd.out = test::matrix(DType::bf16, 64, 132);
  test::check_nothing_found(odd, "expected a multiple of 16 columns, got 264");
  args.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 2};
  test::check_nothing_found(args, "unsupported with gated pairs", StatusCode::unsupported);
}

TEST_CASE("gemm: a residual and the sums of squares of its rows", "[gemm][expression]") {
  std::array<float, 8> out = {};
  std::array<float, 2> squares = {};
  const float x[] = {1, 1, 1, 1, 0, 0, 0, 0};
  GemmArguments args = product(TensorView::row_major(out.data(), DType::f32, {2, 4}));
  args.expression = parsed("out = sum + x; squares = row_sum(out * out)", "x=f32:row,squares=f32:per_row");
  args.tensors = {{"x", TensorView::row_major(x, DType::f32, {2, 4})},
                  {"squares", TensorView::vector(squares.data(), DType::f32, 2)}};
  CHECK(run_all(args, [&] {
          CHECK(out == std::array<float, 8>{2, 3, 4, 5, 5, 6, 7, 8});
          CHECK(squares == std::array<float, 2>{54, 174});
          squares = {};
        }) > 0);
}

TEST_CASE("gemm: 8-bit outputs with a scale for each group, and the greatest magnitude",
          "[gemm][expression]") {
  std::array<float, 8> out = {};
  std::array<float, 2> scale = {};
  float amax = 0;
  const float bias[] = {0, -10, 0, 0};
  GemmArguments args = product(TensorView::row_major(out.data(), DType::f32, {2, 4}));
  args.expression =
      parsed("z = sum + bias; scale = group_max(abs(z)) / 448; out = e4m3(z / scale); amax = max(abs(z))",
             "bias=f32:per_column,scale=f32:col,out=f32:row,amax=f32:scalar");
  args.tensors = {{"bias", TensorView::vector(bias, DType::f32, 4)},
                  {"scale", TensorView::row_major(scale.data(), DType::f32, {2, 1})},
                  {"amax", TensorView::vector(&amax, DType::f32, 1)}};
  CHECK(run_all(args, [&] {
          CHECK(amax == 8);
          CHECK(scale == std::array<float, 2>{8.F / 448, 8.F / 448});
          CHECK((out[1] == -448 && out[7] == 448));
          amax = 0;
        }) > 0);
}

TEST_CASE("gemm: columns are reduced over all rows of a batch entry, and all over the batch",
          "[gemm][expression]") {
  std::array<float, 16> out = {};
  std::array<float, 8> columns = {};
  float all = 0;
  GemmArguments args = product(TensorView::row_major(out.data(), DType::f32, {2, 2, 4}));
  args.expression = parsed("out = sum; columns = column_sum(sum) * 2; all = sum(sum)", "");
  args.tensors = {{"columns", TensorView::row_major(columns.data(), DType::f32, {2, 4})},
                  {"all", TensorView::vector(&all, DType::f32, 1)}};
  CHECK(run_all(args, [&] {
          CHECK(columns == std::array<float, 8>{12, 16, 20, 24, 12, 16, 20, 24});
          CHECK(all == 72);
          columns = {}, all = 0;
        }) > 0);
}

TEST_CASE("gemm: what is reduced of no rows is 0", "[gemm][expression]") {
  std::array<float, 4> columns = {1, 1, 1, 1};
  GemmArguments args = product(TensorView::row_major(nullptr, DType::f32, {0, 4}));
  args.a = TensorView::row_major(nullptr, DType::f32, {0, 2});
  args.expression = parsed("out = sum; columns = column_sum(sum)", "");
  args.tensors = {{"columns", TensorView::vector(columns.data(), DType::f32, 4)}};
  CHECK(run_all(args, [&] {
          CHECK(columns == std::array<float, 4>{});
          columns = {1, 1, 1, 1};
        }) > 0);
}

TEST_CASE("gemm: the second step of reductions lies behind the first in a launch", "[gemm][expression]") {
  GemmArguments args = large("out = sum; r = row_sum(sum); m = max(abs(sum))", "r=f32:per_row");
  args.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 64)},
                  {"m", TensorView::vector(nullptr, DType::f32, 1)}};
  const auto found = get_kernels(args);
  REQUIRE_FALSE(found.empty());
  for (const Candidate& kernel : found) {
    INFO(kernel.name());
    CHECK(kernel.workspace() > 0);
  }
}

TEST_CASE("gemm: what kernels do not reduce is refused by each in a line", "[gemm][expression]") {
  const auto refusal = [](const GemmArguments& args, const char* name) {
    const auto kernel = find_kernel(name);
    INFO(name << ": " << kernel.status().message());
    REQUIRE(kernel);
    return kernel->supports(args).message();
  };
  GemmArguments columns = large("out = sum / group_max(sum)", "", 256, Layout::column);
  REQUIRE_FALSE(get_kernels(columns).empty());
  for (const Candidate& kernel : get_kernels(columns)) {
    CHECK(kernel.metadata().family == "gemm_sm90");
    CHECK(kernel.metadata().design.orientation == Orientation::direct);
  }
  CHECK(refusal(columns, "gemm_sm80_bf16_bf16_f32_bf16_rcc_128x128x32_w2x2x1_s4_a8x8").find("row-major") !=
        std::string::npos);
  columns.expression = parsed("out = sum; m = max(sum)", "");
  columns.tensors = {{"m", TensorView::vector(nullptr, DType::f32, 1)}};
  CHECK_FALSE(get_kernels(columns).empty());

  GemmArguments groups = large("out = sum / group_max(sum)", "");
  std::set<std::string> families;
  for (const Candidate& kernel : get_kernels(groups)) {
    CHECK(kernel.metadata().design.tile.n % 128 == 0);
    families.insert(std::string(kernel.metadata().family));
  }
  CHECK(families == std::set<std::string>{"gemm_simt", "gemm_sm80", "gemm_sm90"});
  GemmArguments pairs = large("out = gate(sum) * up(sum)", "");
  pairs.out = test::matrix(DType::bf16, 64, 128);
  REQUIRE_FALSE(get_kernels(pairs).empty());
  for (const Candidate& kernel : get_kernels(pairs)) {
    if (kernel.metadata().family != "gemm_sm90") CHECK(kernel.metadata().design.tile.n % 64 == 0);
  }
  CHECK(refusal(groups, "gemm_simt_bf16_bf16_f32_bf16_rcr_64x64x16_t4x4")
            .find("tiles are multiples of 128 columns, not 64") != std::string::npos);
  CHECK(refusal(groups, "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x192x64_c1x1_s4_ping_pong_a8x8")
            .find("tiles are multiples of 128 columns, not 192") != std::string::npos);
  // The tiles of a cluster's blocks lie side by side: a group is of one.
  GemmArguments both = large("z = gate(sum) * up(sum); out = z / group_max(z)", "", 512);
  both.out = test::matrix(DType::bf16, 64, 256);
  CHECK(refusal(both, "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x128x64_c1x2_s6_ping_pong_a8x8")
            .find("(256 of gated pairs), not 128") != std::string::npos);
  CHECK(refusal(both, "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c1x2_s4_cooperative_a8x8") == "ok");
}

TEST_CASE("gemm: gated pairs and reductions that do not fit are refused", "[gemm][expression]") {
  GemmArguments odd = large("out = gate(sum) * up(sum)", "");
  odd.out = test::matrix(DType::bf16, 64, 256);
  test::check_nothing_found(odd, "expected 512");
  test::check_nothing_found(large("out = row_sum(sum)", ""), "has a value for each element");
  GemmArguments lines = large("out = sum; r = row_sum(sum)", "");
  lines.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 63)}};
  test::check_nothing_found(lines, "`r` does not fit `out` along rows: expected 64, got 63");
  GemmArguments arrays = large("out = sum; r = max(sum)", "");
  arrays.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 1)}};
  arrays.out = PointerArrayView::row_major(nullptr, DType::bf16, 2, {64, 256});
  test::check_nothing_found(arrays, "an array of pointers");
}

TEST_CASE("gemm: code of pairs and reductions", "[gemm][expression]") {
  const Expression e = parsed("z = gate(sum) * up(sum); out = z; r = row_max(z) * f; m = max(abs(z))",
                              "f=f32:per_row,out=bf16:row,r=f32:per_row,m=f32:scalar");
  const Result<std::string> code = detail::gemm::code_of(e, "own");
  REQUIRE(code);
  INFO(*code);
  for (const char* part : {"is_gated = true", "in.gate_sum = lane.gate();",
                           "using Parameters = WithReductions<Params>", "row_count = 1", "all_count = 1",
                           "lane.template output<DType::f32, 1>(out.out1)", "lane.out(out.out0)"})
    CHECK(code->find(part) != std::string::npos);
}

TEST_CASE("gemm: nothing with pairs or reductions is cut within a cluster", "[gemm][expression]") {
  // So small an output of so many products that kernels of clusters cut it by themselves.
  const auto modes = [](const char* text) {
    GemmArguments args = {.a = test::matrix(DType::bf16, 256, 8192),
                          .b = TensorView::column_major(nullptr, DType::bf16, {8192, 256}),
                          .out = test::matrix(DType::bf16, 256, 256)};
    args.expression = parsed(text, "");
    if (args.expression->is_gated()) args.out = test::matrix(DType::bf16, 256, 128);
    if (args.expression->outputs().size() > 1)
      args.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 256)}};
    std::set<Mode> seen;
    const auto found = get_kernels(args);
    INFO(text << ": " << found.status().message());
    REQUIRE_FALSE(found.empty());
    for (const Candidate& kernel : found) seen.insert(kernel.controls().mode.value_or(Mode::gemm));
    return seen;
  };
  CHECK(modes("out = sum * 2").contains(Mode::split_k_cluster));
  for (const char* text :
       {"out = sum; r = row_sum(sum)", "out = sum; r = column_max(sum)", "out = silu(gate(sum)) * up(sum)"})
    CHECK_FALSE(modes(text).contains(Mode::split_k_cluster));
}

TEST_CASE("gemm: what is remembered of one expression does not answer another with reductions",
          "[gemm][expression]") {
  const GemmArguments plain = large("out = relu(sum)", "");
  GemmArguments lines = large("out = sum; r = row_sum(sum)", "");
  lines.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 64)}};
  for (int i = 0; i < 3; ++i) {
    for (const GemmArguments& args : {plain, lines}) {
      const Result<Candidate> best = find_best(args);
      REQUIRE(best);
      CHECK(best->workspace() == *best->workspace_size(args));
      CHECK(best->name() == get_kernels(args).front().name());
    }
  }
}

TEST_CASE("gemm: reductions take time beside the values", "[gemm][expression]") {
  GemmArguments plain = large("out = sum * 2", "");
  GemmArguments reduced = large("out = sum * 2; r = row_sum(sum); m = max(sum)", "");
  reduced.tensors = {{"r", TensorView::vector(nullptr, DType::f32, 64)},
                     {"m", TensorView::vector(nullptr, DType::f32, 1)}};
  const auto found = get_kernels(reduced);
  REQUIRE_FALSE(found.empty());
  for (const Candidate& kernel : found) {
    INFO(kernel.name());
    const auto without = kernel.supports(plain) ? account_of(kernel, plain) : Result<Account>(Status());
    const Result<Account> account = account_of(kernel, reduced);
    REQUIRE(account);
    CHECK(static_cast<float>(account->seconds) == static_cast<float>(kernel.predicted_seconds()));
    if (kernel.controls().split_k_slices.value_or(1) == 1 && without)
      CHECK(account->seconds > without->seconds * 0.999);
  }
}
