/// Lists of GEMMs with expressions that reduce rows, columns or all elements: by heart in every kernel that
/// takes them, against sums of random lists, in launches, and what is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gemm_list_sm90/params.hpp"
#include "lab/problems/dice.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm_list/floats.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/expressions.hpp"
#include "support/prepared_launch.hpp"

using namespace quarry;

namespace {

using test::check_nothing_found;
using test::Floats;
using test::launch_of;
using test::parsed;
using test::rows_of;
using test::run_all;

constexpr float lowest = -std::numeric_limits<float>::infinity();

/// A list of small whole numbers, whose sums are exact in whatever order, and what its reductions leave.
struct ReducedList {
  std::int64_t count, m, n, k;
  Floats a, b, out;
  std::vector<std::int32_t> sizes;
  Floats rows, columns, sum = {-7}, most = {-7};

  ReducedList(std::int64_t problems, std::int64_t bound_m, std::int64_t bound_n, std::int64_t bound_k)
      : count(problems), m(bound_m), n(bound_n), k(bound_k) {
    out.assign(static_cast<std::size_t>(count * m * n), -7);
    forget();
  }

  void fill(lab::Dice& dice) {
    for (std::int64_t i = 0; i < count * m * k; ++i) a.push_back(static_cast<float>(dice.between(-4, 4)));
    for (std::int64_t i = 0; i < count * k * n; ++i) b.push_back(static_cast<float>(dice.between(-4, 4)));
    for (std::int64_t i = 0; i < count; ++i) {
      for (const std::int64_t bound : {m, n, k})
        sizes.push_back(static_cast<std::int32_t>(dice.between(dice.one_in(3) ? 0 : bound / 2, bound)));
    }
  }
  void forget() {
    rows.assign(static_cast<std::size_t>(count * m), -7);
    columns.assign(static_cast<std::size_t>(count * n), -7);
    sum = most = {-7};
  }

  GemmListArguments arguments() const {
    GemmListArguments args = {.a = rows_of(a, {count, m, k}),
                              .b = rows_of(b, {count, k, n}),
                              .out = rows_of(out, {count, m, n}),
                              .sizes = TensorView::row_major(sizes.data(), DType::s32, {count, 3})};
    args.expression =
        parsed("out = sum; r = row_sum(sum); c = column_max(sum); s = sum(sum); m = max(sum)", "");
    args.tensors = {{"r", rows_of(rows, {count, m})},
                    {"c", rows_of(columns, {count, n})},
                    {"s", rows_of(sum, {1})},
                    {"m", rows_of(most, {1})}};
    return args;
  }

  float product(std::int64_t problem, std::int64_t row, std::int64_t column) const {
    float total = 0;
    for (std::int64_t i = 0; i < sizes[static_cast<std::size_t>(3 * problem + 2)]; ++i)
      total += a[static_cast<std::size_t>((problem * m + row) * k + i)] *
               b[static_cast<std::size_t>((problem * k + i) * n + column)];
    return total;
  }

  /// Computes what the reductions leave.
  void expect() {
    forget();
    sum = {0};
    most = {lowest};
    for (std::int64_t p = 0; p < count; ++p) {
      const std::int64_t own_m = sizes[static_cast<std::size_t>(3 * p)];
      const std::int64_t own_n = sizes[static_cast<std::size_t>(3 * p + 1)];
      std::fill_n(rows.begin() + p * m, own_m, 0);
      std::fill_n(columns.begin() + p * n, own_n, lowest);
      for (std::int64_t row = 0; row < own_m; ++row) {
        for (std::int64_t column = 0; column < own_n; ++column) {
          const float value = product(p, row, column);
          float& of_column = columns[static_cast<std::size_t>(p * n + column)];
          rows[static_cast<std::size_t>(p * m + row)] += value;
          of_column = std::max(of_column, value);
          sum[0] += value;
          most[0] = std::max(most[0], value);
        }
      }
    }
  }
};

/// Four problems within 600x512x256, without memory.
GemmListArguments fake_lines(std::string_view text, std::vector<ExpressionTensor> tensors) {
  GemmListArguments args = {.a = TensorView::row_major(nullptr, DType::bf16, {4, 600, 256}),
                            .b = TensorView::row_major(nullptr, DType::bf16, {4, 256, 512}),
                            .out = TensorView::row_major(nullptr, DType::bf16, {4, 600, 512}),
                            .sizes = TensorView::row_major(nullptr, DType::s32, {4, 3})};
  args.expression = parsed(text, "");
  args.tensors = std::move(tensors);
  return args;
}

TensorView fake_values(std::initializer_list<std::int64_t> extents) {
  return TensorView::row_major(nullptr, DType::f32, extents);
}

}  // namespace

TEST_CASE("gemm_list: rows and columns of each problem, and all elements together, are reduced",
          "[gemm_list][expression]") {
  ReducedList list(3, 2, 3, 1);
  list.a = {1, 2, 3, 4, 5, 6};
  list.b = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  list.sizes = {2, 3, 1, 1, 2, 1, 0, 3, 1};  // 1 2 3, 2 4 6; 12 15; three columns of nothing
  const GemmListArguments args = list.arguments();
  CHECK(run_all(args, [&] {
          CHECK(list.rows == Floats{6, 12, 27, -7, -7, -7});
          CHECK(list.columns == Floats{2, 4, 6, 12, 15, -7, lowest, lowest, lowest});
          CHECK(list.sum == Floats{45});
          CHECK(list.most == Floats{15});
          list.forget();
        }) > 0);
}

TEST_CASE("gemm_list: what is made of a problem's lines reads the vectors of the problem",
          "[gemm_list][expression]") {
  ReducedList list(2, 2, 2, 1);
  list.a = {1, 2, 3, 4};
  list.b = {1, 2, 3, 4};
  list.sizes = {2, 2, 1, 1, 2, 1};  // 1 2, 2 4; 9 12
  GemmListArguments args = list.arguments();
  const Floats bias = {100, 200, 300, 400}, weight = {1, 10, 100, 1000};
  args.expression = parsed("out = sum; r = row_max(sum) * weight; c = column_sum(sum) + bias",
                           "bias=f32:per_column,weight=f32:per_row");
  args.tensors = {{"bias", rows_of(bias, {2, 2})},
                  {"weight", rows_of(weight, {2, 2})},
                  {"r", rows_of(list.rows, {2, 2})},
                  {"c", rows_of(list.columns, {2, 2})}};
  CHECK(run_all(args, [&] {
          CHECK(list.rows == Floats{2, 40, 1200, -7});
          CHECK(list.columns == Floats{103, 206, 309, 412});
          list.forget();
        }) > 0);
}

TEST_CASE("gemm_list: reductions of random lists are exact", "[gemm_list][expression]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  for (int i = 0; i < 40; ++i) {
    ReducedList list(dice.between(1, 40), dice.between(1, 100), dice.between(1, 100), dice.between(1, 5));
    list.fill(dice);
    const GemmListArguments args = list.arguments();
    const CandidateList found = get_kernels(args);
    INFO("problem " << i << ": " << found.status().message());
    REQUIRE_FALSE(found.empty());
    const Candidate& kernel = found[static_cast<std::size_t>(dice.between(0, std::ssize(found) - 1))];
    INFO(kernel.name());
    std::vector<std::byte> workspace(kernel.workspace() + 256);
    const auto address = (reinterpret_cast<std::uintptr_t>(workspace.data()) + 255) / 256 * 256;
    REQUIRE(kernel.run(args, {.workspace = {reinterpret_cast<void*>(address), kernel.workspace()}}));
    const ReducedList got = list;
    list.expect();
    CHECK(got.rows == list.rows);
    CHECK(got.columns == list.columns);
    CHECK(got.sum == list.sum);
    CHECK(got.most == list.most);
  }
}

TEST_CASE("gemm_list: reductions of nothing are 0 and the lowest value", "[gemm_list][expression]") {
  ReducedList list(2, 2, 3, 1);
  list.a.assign(4, 1);
  list.b.assign(6, 1);
  SECTION("problems without rows or columns") { list.sizes = {0, 3, 1, 2, 0, 1}; }
  SECTION("bounds without columns") {
    list.n = 0;
    list.columns.clear();
    list.sizes = {0, 0, 1, 2, 0, 1};
  }
  SECTION("no problems") { list.count = 0; }
  const GemmListArguments args = list.arguments();
  CHECK(run_all(args, [&] {
          CHECK(list.sum == Floats{0});
          CHECK(list.most == Floats{lowest});
          if (list.count > 0) CHECK(list.rows == Floats{-7, -7, 0, 0});
          if (list.count > 0 && list.n > 0) CHECK(list.columns == Floats{lowest, lowest, lowest, -7, -7, -7});
          list.sum = list.most = {-7};
        }) > 0);
}

TEST_CASE("gemm_list: a launch with reductions has a step more, and its parts in the workspace",
          "[gemm_list][expression]") {
  const std::vector<ExpressionTensor> tensors = {
      {"r", fake_values({4, 600})}, {"c", fake_values({4, 512})}, {"m", fake_values({1})}};
  const GemmListArguments args =
      fake_lines("out = sum; r = row_sum(sum); c = column_max(sum); m = max(sum)", tensors);
  const GemmListArguments plain = fake_lines("out = sum", {});
  for (const Candidate& kernel : get_kernels(args)) {
    INFO(kernel.name());
    const auto with = launch_of(kernel, args);
    const auto without = launch_of(kernel, plain);
    CHECK(with->launch.steps.count == without->launch.steps.count + 1);
    CHECK(with->launch.workspace_bytes > without->launch.workspace_bytes);
    CHECK(kernel.workspace() == with->launch.workspace_bytes);
  }
  const auto prepared =
      launch_of(test::required_kernel("gemm_list_sm90_bf16_bf16_f32_bf16_rrr_128x128x64_c1x1_"
                                      "s6_ping_pong_a8x8"),
                args);
  const Launch& launch = prepared->launch;
  REQUIRE(launch.steps.count == 3);
  const auto params_of_step = [&](int i) {
    return reinterpret_cast<const ListTensorGemmParams*>(launch.image + launch.steps[i].at);
  };
  CHECK(params_of_step(0)->makes_maps);
  CHECK_FALSE(params_of_step(1)->makes_maps);
  // A line of 4 x 600 rows and 4 x 512 columns for each thread, and a block for all.
  const auto threads = launch.steps[2].threads;
  CHECK(launch.steps[2].grid == (4 * 600 + 4 * 512 + threads - 1) / threads + 1);
}

TEST_CASE("gemm_list: outputs that do not fit a reduction are refused by name", "[gemm_list][expression]") {
  const auto refused = [](std::string_view text, TensorView r, const std::string& words) {
    check_nothing_found(fake_lines(text, {{"r", r}}), words);
  };
  REQUIRE_FALSE(
      get_kernels(fake_lines("out = sum; r = row_sum(sum)", {{"r", fake_values({4, 600})}})).empty());
  refused("out = sum; r = row_sum(sum)", fake_values({600}),
          "Operand `r` does not fit `out` along the batch: expected 4, got 1");
  refused("out = sum; r = row_sum(sum)", fake_values({4, 599}), "along rows: expected 600, got 599");
  refused("out = sum; r = column_sum(sum)", fake_values({3, 512}), "along the batch: expected 4, got 3");
  refused("out = sum; r = max(sum)", fake_values({4}), "Operand `r`");
}
