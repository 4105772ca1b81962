/// What the sizes and leading dimensions of a list mean, whatever they say.
#include "gemm_list/params.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr int greatest = std::numeric_limits<int>::max();
constexpr int least = std::numeric_limits<int>::min();

int any_number(std::mt19937_64& random, int around) {
  const int choices[] = {
      least, -1, 0, 1, around - 1, around, around + 1, greatest, static_cast<int>(random() % 200)};
  return choices[random() % std::size(choices)];
}

}  // namespace

TEST_CASE("extents of a list stay within their bounds", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2000; ++i) {
    const int bound = static_cast<int>(random() % 200);
    const int given = any_number(random, bound);
    const int extent = clamped_extent(given, bound);
    CHECK(extent >= 0);
    CHECK(extent <= bound);
    if (given >= 0 && given <= bound) CHECK(extent == given);
  }
}

TEST_CASE("N of gated pairs is whole units, no more than it was", "[gemm_list]") {
  CHECK(pair_unit(false, Layout::column, 8) == 2);
  CHECK(pair_unit(false, Layout::row, 0) == 2);
  CHECK(pair_unit(false, Layout::row, 1) == 2);
  CHECK(pair_unit(false, Layout::row, 8) == 16);
  CHECK(pair_unit(true, Layout::row, 16) == 16);
  for (int n = 0; n < 200; ++n) {
    for (int unit = 1; unit <= 32; unit *= 2) {
      const ListExtents whole = in_units({5, n, 7}, unit);
      CHECK((whole.m == 5 && whole.k == 7));
      CHECK(whole.n == n / unit * unit);
      CHECK(with_half_columns(whole).n == whole.n / 2);
    }
  }
}

TEST_CASE("lines of a list neither overlap nor end behind those of the view", "[gemm_list]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5000; ++i) {
    const int alignment = 1 << random() % 5;
    const int most_line = 1 + static_cast<int>(random() % 100);
    const long long bound =
        (most_line + static_cast<long long>(random() % 40)) / alignment * alignment + alignment;
    const int line = static_cast<int>(random() % static_cast<unsigned>(most_line + 1));
    const int given = any_number(random, line);
    CAPTURE(alignment, bound, line, given);
    const long long leading = clamped_leading(given, line, bound, alignment);
    CHECK(leading >= line);
    CHECK(leading <= bound);
    CHECK(leading % alignment == 0);
    if (given >= line && given <= bound && given % alignment == 0) CHECK(leading == given);
  }
}

TEST_CASE("a leading dimension leads over the lines of its matrix", "[gemm_list]") {
  GemmListParams params = {};
  params.gemm.a = {nullptr, 64, 1, pointer_array_stride};
  params.gemm.b = {nullptr, 1, 96, pointer_array_stride};
  params.gemm.c = {nullptr, 80, 1, 0};
  params.gemm.out = {nullptr, 1, 50, pointer_array_stride};
  params.list.by_columns = 1U << static_cast<int>(ListMatrix::b) | 1U << static_cast<int>(ListMatrix::out);
  const ListExtents own = {30, 40, 50};
  const ListOperands operands = operands_with_leading(params.gemm, params.list, own, 51, 90, {8, 1});
  CHECK(operands.a.row_stride == 56);
  CHECK(operands.a.column_stride == 1);
  CHECK(operands.b.row_stride == 1);
  CHECK(operands.b.column_stride == 90);
  const GemmParams outputs = outputs_with_leading(params.gemm, params.list, own, -5, greatest);
  CHECK(outputs.c.row_stride == 40);
  CHECK(outputs.out.column_stride == 50);
  CHECK(outputs.out.row_stride == 1);
}
