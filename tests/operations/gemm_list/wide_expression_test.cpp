/// Lists of GEMMs with gated pairs and reductions of groups of columns: against the GEMM of each problem, by
/// heart in every kernel that takes them, and what is refused.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm_list/floats.hpp"
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

TensorView lines_of(const float* data, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return TensorView::row_major(data, DType::f32, {rows, columns}, ld);
}

/// Two problems of K = 1 within 2 rows and 4 columns of B: one as large, one of 1x2.
struct TwoPairs {
  Floats a = {1, 2, 3, 0};
  Floats b = {10, 20, 3, 4, 5, 7, 0, 0};
  Floats out = Floats(2 * 2 * 2, -1);
  std::vector<std::int32_t> sizes = {2, 4, 1, 1, 2, 1};

  GemmListArguments arguments() const {
    GemmListArguments args = {.a = rows_of(a, {2, 2, 1}),
                              .b = rows_of(b, {2, 1, 4}),
                              .out = rows_of(out, {2, 2, 2}),
                              .sizes = TensorView::row_major(sizes.data(), DType::s32, {2, 3}),
                              .host_sizes = sizes};
    args.expression = parsed("out = gate(sum) * 100 + up(sum)", "");
    return args;
  }
};

/// A list without memory: four problems within 64x96x32.
GemmListArguments fake_pairs(std::string_view text, DType type = DType::f16) {
  GemmListArguments args = {.a = TensorView::row_major(nullptr, type, {4, 64, 32}),
                            .b = TensorView::row_major(nullptr, type, {4, 32, 96}),
                            .out = TensorView::row_major(nullptr, DType::f16, {4, 64, 48}),
                            .sizes = TensorView::row_major(nullptr, DType::s32, {4, 3})};
  args.expression = parsed(text, "");
  return args;
}

constexpr std::string_view halves = "out = silu(gate(sum)) * up(sum)";
constexpr std::string_view eights = "out = silu(gate8(sum)) * up8(sum)";

/// Random lists with gated pairs against the GEMM of each problem, bit for bit.
/// @param text of the expression @param unit of N
void compare_with_gemms(std::string_view text, std::int32_t unit) {
  constexpr std::int64_t count = 5, m = 70, n = 160, k = 40;
  const std::uint64_t seed = lab::fresh_seed();
  INFO(text << ", seed " << seed);
  std::mt19937_64 random(seed);
  const Floats a = random_values(count * m * k, random);
  const Floats b = random_values(count * k * n, random);
  const Floats column = random_values(count * n / 2, random),
               matrix = random_values(count * m * n / 2, random);
  Floats out(count * m * n / 2, -7), z(count * m * n / 2, -7), expected_out = out, expected_z = z;
  std::vector<const void*> out_pointers;
  for (std::int64_t i = 0; i < count; ++i) out_pointers.push_back(out.data() + i * m * n / 2);
  const auto extent = [&](std::int32_t most) { return std::uniform_int_distribution(0, most)(random); };
  std::vector<std::int32_t> sizes = {70, 160, 40, 5, unit, 7, 64, 2 * unit, 0};
  for (int i = 3; i < count; ++i)
    sizes.insert(sizes.end(), {extent(70), extent(160 / unit) * unit, extent(40)});
  std::vector<std::int32_t> leading;
  for (std::size_t i = 0; i < count; ++i)
    leading.insert(leading.end(), {sizes[3 * i + 2], sizes[3 * i + 1], 0, sizes[3 * i + 1] / 2});
  const Expression expression = parsed(text, "column=f32:per_column,x=f32:row,z=f32:row");
  GemmListArguments args = {
      .a = rows_of(a, {count, m, k}),
      .b = rows_of(b, {count, k, n}),
      .out = PointerArrayView::row_major(out_pointers.data(), DType::f32, count, {m, n / 2}),
      .sizes = TensorView::row_major(sizes.data(), DType::s32, {count, 3}),
      .leading = TensorView::row_major(leading.data(), DType::s32, {count, 4})};
  args.expression = expression;
  args.tensors = {{"column", rows_of(column, {count, n / 2})},
                  {"x", rows_of(matrix, {count, m, n / 2})},
                  {"z", rows_of(z, {count, m, n / 2})}};
  const Status done = run_best(args);
  INFO(done.message());
  REQUIRE(done);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t* const own = sizes.data() + 3 * i;
    const std::int64_t columns = own[1] / 2;
    if (own[0] == 0 || own[1] == 0) continue;
    GemmArguments gemm = {.a = lines_of(a.data() + i * m * k, own[0], own[2], std::max(own[2], 1)),
                          .b = lines_of(b.data() + i * k * n, own[2], own[1], own[1]),
                          .out = lines_of(expected_out.data() + i * m * n / 2, own[0], columns, columns),
                          .controls = {.mode = Mode::gemm}};
    gemm.expression = expression;
    gemm.tensors = {{"column", TensorView::vector(column.data() + i * n / 2, DType::f32, columns)},
                    {"x", lines_of(matrix.data() + i * m * n / 2, own[0], columns, n / 2)},
                    {"z", lines_of(expected_z.data() + i * m * n / 2, own[0], columns, n / 2)}};
    const CandidateList found = get_kernels(gemm, *Filter::parse("family == gemm_simt and tile.m == 64"));
    REQUIRE_FALSE(found.empty());
    REQUIRE(Kernel(found.front()).run(gemm));
  }
  CHECK(is_same(out, expected_out));
  CHECK(is_same(z, expected_z));
}

}  // namespace

TEST_CASE("gemm_list: a list with gated pairs is the GEMM of each problem, bit for bit",
          "[gemm_list][expression]") {
  compare_with_gemms("z = gate(sum) + column; out = silu(z) * up(sum) * x", 2);
  compare_with_gemms("z = gate8(sum) + column; out = silu(z) * up8(sum) * x", 16);
}

TEST_CASE("gemm_list: the halves of a pair are those of each problem's own columns",
          "[gemm_list][expression]") {
  TwoPairs two;
  const GemmListArguments args = two.arguments();
  const int runs = run_all(args, [&] {
    CHECK(two.out == Floats{1003, 2004, 2006, 4008, 1521, -1, -1, -1});
    two.out.assign(8, -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("gemm_list: sizes of half a pair are refused, or take a column less", "[gemm_list][expression]") {
  TwoPairs two;
  two.sizes[1] = 3;
  GemmListArguments args = two.arguments();
  CHECK(run_best(args).message() ==
        "`host_sizes` is wrong at problem 0: its N is 3, and gated pairs need a multiple of 2");
  args.host_sizes = {};
  CHECK(run_best(args).message() ==
        "Operand `sizes` is wrong at problem 0: its N is 3, and gated pairs need a multiple of 2");
  args.clamp_host_sizes = true;
  for (const bool knows : {false, true}) {
    args.host_sizes = knows ? std::span<const std::int32_t>(two.sizes) : std::span<const std::int32_t>();
    const int runs = run_all(args, [&] {
      CHECK(two.out == Floats{1020, -1, 2040, -1, 1521, -1, -1, -1});
      two.out.assign(8, -1);
    });
    CHECK(runs > 0);
  }
  two.sizes[1] = 1;  // of which no pair is left
  REQUIRE(run_best(args));
  CHECK(two.out == Floats{-1, -1, -1, -1, 1521, -1, -1, -1});
}

TEST_CASE("gemm_list: blocks of eight columns come in pairs", "[gemm_list][expression]") {
  const Floats a = {1, 2};
  Floats b(32);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i);
  Floats out(16, -1);
  std::vector<std::int32_t> sizes = {1, 24, 1};
  GemmListArguments args = {.a = rows_of(a, {1, 1, 1}),
                            .b = rows_of(b, {1, 1, 32}),
                            .out = rows_of(out, {1, 1, 16}),
                            .sizes = TensorView::row_major(sizes.data(), DType::s32, {1, 3})};
  args.expression = parsed("out = gate8(sum) * 100 + up8(sum)", "");
  CHECK(run_best(args).message() ==
        "Operand `sizes` is wrong at problem 0: its N is 24, and gated pairs need a multiple of 16");
  args.clamp_host_sizes = true;
  const auto expected = [](std::size_t columns) {
    Floats values(16, -1);
    for (std::size_t j = 0; j < columns; ++j) {
      const auto gate = static_cast<float>(j / 8 * 16 + j % 8);
      values[j] = gate * 100 + gate + 8;
    }
    return values;
  };
  REQUIRE(run_best(args));
  CHECK(out == expected(8));
  sizes[1] = 32;
  run_all(args, [&] {
    CHECK(out == expected(16));
    out.assign(16, -1);
  });
  args.out = rows_of(out, {1, 1, 12});
  args.b = rows_of(b, {1, 1, 24});
  CHECK(run_best(args).message().find("expected a multiple of 16 columns, got 24") != std::string::npos);
}

TEST_CASE("gemm_list: groups of columns are reduced of each problem's own columns",
          "[gemm_list][expression]") {
  constexpr std::int64_t m = 3, n = 264, k = 16;
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto halves_of = [&](std::int64_t count) {
    std::vector<std::uint16_t> all(static_cast<std::size_t>(count));
    for (std::uint16_t& each : all)  // f16 between 1 and 2, of any sign
      each = static_cast<std::uint16_t>(0x3c00U | (random() & 0x83ffU));
    return all;
  };
  const std::vector<std::uint16_t> a = halves_of(2 * m * k), b = halves_of(2 * k * n);
  Floats out(2 * m * n, -1), scale(2 * m * 3, -1);
  const std::vector<std::int32_t> sizes = {3, 256, 16, 2, 130, 8};
  GemmListArguments args = {.a = TensorView::row_major(a.data(), DType::f16, {2, m, k}),
                            .b = TensorView::row_major(b.data(), DType::f16, {2, k, n}),
                            .out = rows_of(out, {2, m, n}),
                            .sizes = TensorView::row_major(sizes.data(), DType::s32, {2, 3})};
  args.b.extents[2] = 256;
  args.out.extents[2] = 256;
  args.expression = parsed("scale = group_max(abs(sum)); out = sum / scale", "scale=f32:row");
  args.tensors = {{"scale", TensorView::row_major(scale.data(), DType::f32, {2, m, 2}, 3)}};
  args.tensors[0].view.strides[0] = m * 3;
  // Of kernels that copy element by element, none has tiles of 128 columns.
  const int runs = run_all(args, [&] {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t row = 0; row < m; ++row) {
        const bool has_row = static_cast<std::int32_t>(row) < sizes[3 * i];
        const auto columns = static_cast<std::size_t>(sizes[3 * i + 1]);
        for (std::size_t group = 0; group < 3; ++group) {
          const std::size_t first = group * 128, end = std::min(first + 128, columns);
          const float* const line = out.data() + (i * m + row) * n;
          const bool exists = has_row && first < columns;
          CHECK((scale[(i * m + row) * 3 + group] > 0) == exists);
          float greatest = 0;
          for (std::size_t j = first; j < end; ++j) greatest = std::max(greatest, std::abs(line[j]));
          if (first < end) CHECK(greatest == 1);
        }
        for (std::size_t j = has_row ? columns : 0; j < n; ++j) CHECK(out[(i * m + row) * n + j] == -1);
      }
    }
    out.assign(out.size(), -1);
    scale.assign(scale.size(), -1);
  });
  CHECK(runs > 0);
}

TEST_CASE("gemm_list: operands that do not fit gated pairs are refused", "[gemm_list][expression]") {
  for (const std::string_view text : {halves, eights}) {
    REQUIRE_FALSE(get_kernels(fake_pairs(text)).empty());
    GemmListArguments args = fake_pairs(text);
    args.b = TensorView::row_major(nullptr, DType::f16, {4, 32, 48});
    check_nothing_found(args, "Operand `b`");  // which has as many columns as the output
    args = fake_pairs(text);
    const std::vector<std::int32_t> sizes = {64, 96, 32, 1, 33, 32, 0, 0, 0, 64, 96, 32};
    args.host_sizes = sizes;
    check_nothing_found(args, "`host_sizes` is wrong at problem 1: its N is 33, and gated pairs need");
    args.clamp_host_sizes = true;
    CHECK_FALSE(get_kernels(args).empty());
  }
}

TEST_CASE("gemm_list: kernels that copy pieces of a row-major B must know where its second halves begin",
          "[gemm_list][expression]") {
  const Kernel kernel = *find_kernel("gemm_list_sm80_f16_f16_f32_f16_rrr_128x128x32_w2x2x1_s4_a8x8");
  GemmListArguments args = fake_pairs(halves);
  CHECK(kernel.supports(args).message() ==
        "The halves of operand `b` are a gated pair: a kernel that needs a multiple of 8 columns each must "
        "know "
        "the problems' N, and `host_sizes` is empty");
  std::vector<std::int32_t> sizes = {64, 96, 32, 1, 48, 32, 0, 0, 0, 64, 16, 32};
  args.host_sizes = sizes;
  CHECK(kernel.supports(args));
  sizes[10] = 18;
  CHECK(kernel.supports(args).message() ==
        "The halves of operand `b` are a gated pair: expected a multiple of 8 columns each, got 9 in problem "
        "3");
  CHECK(kernel.supports(fake_pairs(eights)));
  args.out = TensorView::row_major(nullptr, DType::f16, {4, 64, 44});
  args.b = TensorView::row_major(nullptr, DType::f16, {4, 32, 88});
  CHECK(kernel.supports(args).message() ==
        "The halves of operand `b` are a gated pair: expected a multiple of 8 columns each, got 44");
}
