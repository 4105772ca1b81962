/// Zero points of unsigned weights: their checks, which kernels take them, and results on the host executor
/// against sums in float64.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "basic/numbers.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/gemm/scales.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_checks.hpp"
#include "support/random_gemm.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using test::accepted;
using test::between;
using test::check_refused;
using test::coin;
using test::Random;
using test::refused;

/// 64 x 96 of K = 200 with groups of 64: four of them.
GemmArguments with_zeros(DType weights = DType::u4, DType type = DType::bf16) {
  return {.a = TensorView::row_major(nullptr, type, {64, 200}),
          .b = TensorView::column_major(nullptr, weights, {200, 96}),
          .out = TensorView::row_major(nullptr, type, {64, 96}),
          .b_scale = TensorView::row_major(nullptr, DType::f32, {4, 96}),
          .b_scale_granularity = ScaleGranularity::block_1x64,
          .b_zero = TensorView::row_major(nullptr, DType::u8, {4, 96})};
}

}  // namespace

TEST_CASE("zero points are found as the scales are", "[zero_points]") {
  const GemmProblem problem = accepted(with_zeros());
  CHECK(problem.scales.b.zero.is_given);
  CHECK_FALSE(problem.scales.a.zero.is_given);
  CHECK(problem.scales.b.zero.line_stride == 1);
  CHECK(problem.scales.b.zero.k_stride == 96);
  CHECK(exchanged(problem).scales.a.zero.k_stride == 96);
  CHECK_FALSE(exchanged(problem).scales.b.zero.is_given);
  GemmArguments args = with_zeros(DType::u8, DType::f16);
  args.b_zero = TensorView::column_major(nullptr, DType::u8, {4, 96}, 7);
  CHECK(accepted(args).scales.b.zero.line_stride == 7);
  CHECK(accepted(args).scales.b.zero.k_stride == 1);
  args.b_scale = TensorView::row_major(nullptr, DType::f32, {2, 1});
  args.b_scale_granularity = ScaleGranularity::block_128x128;
  args.b_zero = TensorView::row_major(nullptr, DType::u8, {2, 1});
  accepted(args);
  args.epilogue.alpha = 0.0;  // nothing is read
  CHECK_FALSE(has_zeros(accepted(args).scales));
}

TEST_CASE("zero points that do not fit are refused", "[zero_points]") {
  GemmArguments args = with_zeros();
  args.b_scale.reset();
  CHECK(refused(args).message() ==
        "Operand `b_zero` stands without `b_scale`, whose granularity zero points have");
  for (const DType weights : {DType::s4, DType::s8, DType::e4m3, DType::bf16}) {
    check_refused(with_zeros(weights),
                  "Operand `b_zero` is for unsigned weights: expected `b` of u4 or u8 beside `a` of f16 or "
                  "bf16, got " +
                      std::string(to_string(weights)) + " beside bf16");
  }
  check_refused(with_zeros(DType::u8, DType::f32), "got u8 beside f32");
  args = with_zeros();
  args.b_zero->dtype = DType::s8;
  check_refused(args, Reason::dtype, Operand::b_zero);
  args.b_zero = TensorView::row_major(nullptr, DType::u8, {3, 96});
  CHECK(refused(args).message() == "Operand `b_zero` does not fit: expected 1x64 {4, 96}, got 1x64 {3, 96}");
  args.b_zero = TensorView::row_major(nullptr, DType::u8, {1, 1});
  check_refused(args, "got 1x64 {1, 1}");
  args.b_zero = TensorView::row_major(nullptr, DType::u8, {3, 4, 96});
  check_refused(args, Reason::rank, Operand::b_zero);
  args.b_zero = TensorView::row_interleaved32(nullptr, DType::u8, {32, 96});
  check_refused(args, "`b_zero`");
  args = with_zeros();
  args.b_zero->strides[0] = -96;
  check_refused(args, Reason::negative_stride, Operand::b_zero);
  args = with_zeros();
  args.a = TensorView::row_major(nullptr, DType::bf16, {2, 64, 200});
  args.out = TensorView::row_major(nullptr, DType::bf16, {2, 64, 96});
  accepted(args);
  args.b_zero = TensorView::row_major(nullptr, DType::u8, {3, 4, 96});
  check_refused(args, Reason::batch, Operand::b_zero);
}

TEST_CASE("zero points lie over no output", "[zero_points]") {
  std::vector<std::uint16_t> memory(64 * 96);
  GemmArguments args = with_zeros();
  args.out.data = memory.data();
  args.b_zero->data = memory.data();
  check_refused(args, Reason::output_overlap, Operand::b_zero);
}

TEST_CASE("kernels take zero points if they say so, and then need them", "[zero_points]") {
  int with = 0, without = 0;
  for (const detail::Row& row : test::gemm_rows()) {
    const OperandsMetadata& o = row.metadata.operands;
    if (o.b.dtype != DType::u4 && o.b.dtype != DType::u8) continue;
    const bool takes_zeros = o.scales == ScaleSupport::zero_points;
    if (o.scales == ScaleSupport::none || !is_half(o.a.dtype)) continue;
    Random random(1);
    GemmArguments args = test::random_shape(random, test::types_of(row), test::layouts_of(row),
                                            {.m = 20, .n = 20, .k = 40, .alignment_bytes = 16});
    args.accumulator = o.accumulator;
    const std::int64_t n = args.out.extents[args.out.rank - 1U];
    args.b_scale = TensorView::row_major(nullptr, DType::f32, {1, n});
    args.b_scale_granularity = ScaleGranularity::column;
    CAPTURE(row.metadata.name);
    const Kernel kernel(row);
    const Status plain = kernel.supports(args);
    args.b_zero = TensorView::row_major(nullptr, DType::u8, {1, n});
    const Status zeros = kernel.supports(args);
    REQUIRE(bool(plain) == !takes_zeros);
    REQUIRE(bool(zeros) == takes_zeros);
    REQUIRE((takes_zeros ? plain : zeros).message() ==
            (takes_zeros ? "Operand `b_zero` is missing: expected a value, got none"
                         : "Operand `b_zero` is unsupported: expected none, got a tensor"));
    ++(takes_zeros ? with : without);
  }
  CHECK(with >= 64);
  CHECK(without >= 64);
}

namespace {

/// A matrix product of weights with zero points, in memory of its own, and its sums in float64.
struct Product {
  GemmArguments arguments;
  std::vector<std::uint16_t> a;
  std::vector<unsigned char> b, zeros;
  std::vector<float> scales, out;
  std::vector<double> sums, magnitudes;

  Product(Random& random, DType weights, bool exact);
};

Product::Product(Random& random, DType weights, bool exact) {
  using enum ScaleGranularity;
  constexpr ScaleGranularity all[] = {tensor, column, block_1x32, block_1x64, block_1x128, block_128x128};
  const int m = between(random, 1, 9);
  const int n = between(random, 1, 150);
  const int k = between(random, 1, 300);
  const ScaleGranularity granularity = all[static_cast<std::size_t>(between(random, 0, 5))];
  const detail::MatrixExtents extents = detail::scale_extents(Operand::b_zero, granularity, {k, n});
  const auto number = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const int per_byte = weights == DType::u4 ? 2 : 1;
  const auto rounded = [k](int unit) { return (k + unit - 1) / unit * unit; };
  const bool is_aligned = coin(random);           // as kernels on tensor cores need it
  const int line = rounded(is_aligned ? 32 : 2);  // of a column of B
  const int a_line = rounded(is_aligned ? 8 : 1);
  a.resize(number(m * a_line));
  b.resize(number(line * n / per_byte));
  zeros.resize(number(extents.rows * extents.columns));
  scales.resize(zeros.size());
  out.resize(number(m * n));
  sums.resize(out.size());
  magnitudes.resize(out.size());
  for (auto& x : a)
    x = host::f32_to_bf16(exact ? static_cast<float>(between(random, -2, 2))
                                : static_cast<float>(between(random, -999, 999)) / 512);
  for (auto& x : b) x = static_cast<unsigned char>(random() % 256);
  for (auto& x : zeros) x = static_cast<unsigned char>(random() % 256);
  for (auto& x : scales)
    x = exact ? 1 + static_cast<float>(random() % 2) : static_cast<float>(between(random, 1, 99)) / 77;
  const bool by_rows = coin(random);
  const auto view = [&](const void* data, DType type) {
    return by_rows ? TensorView::row_major(data, type, {extents.rows, extents.columns})
                   : TensorView::column_major(data, type, {extents.rows, extents.columns});
  };
  arguments = {.a = TensorView::row_major(a.data(), DType::bf16, {m, k}, a_line),
               .b = TensorView::column_major(b.data(), weights, {k, n}, line),
               .out = TensorView::row_major(out.data(), DType::f32, {m, n}),
               .b_scale = view(scales.data(), DType::f32),
               .b_scale_granularity = granularity,
               .b_zero = view(zeros.data(), DType::u8)};
  const std::int64_t group = is_blocked(granularity) ? k_positions(granularity) : k;
  for (int column = 0; column < n; ++column) {
    const std::int64_t line_of = granularity == tensor          ? 0
                                 : granularity == block_128x128 ? column / 128
                                                                : column;
    for (int i = 0; i < k; ++i) {
      const std::int64_t at =
          by_rows ? i / group * extents.columns + line_of : line_of * extents.rows + i / group;
      const std::size_t element = number(column * line + i);
      const int stored = per_byte == 1 ? b[element] : b[element / 2] >> 4 * (element % 2) & 15;
      const double value = static_cast<double>(scales[number(at)]) * (stored - zeros[number(at)]);
      for (int row = 0; row < m; ++row) {
        const double term = value * static_cast<double>(host::bf16_to_f32(a[number(row * a_line + i)]));
        sums[number(row * n + column)] += term;
        magnitudes[number(row * n + column)] += std::abs(term);
      }
    }
  }
}

/// Runs every kernel that takes the product, and compares. @return how many there were
int check(Product& product, bool exact) {
  const CandidateList found = get_kernels(product.arguments);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  int ran = 0;
  for (const Candidate& candidate : found) {
    CAPTURE(candidate.name());
    std::ranges::fill(product.out, NAN);
    std::vector<char> workspace(candidate.workspace() + 256);
    void* const aligned = workspace.data() + (256 - reinterpret_cast<std::uintptr_t>(workspace.data()) % 256);
    const Status done = candidate.run(product.arguments, {.workspace = {aligned, candidate.workspace()}});
    INFO(done.message());
    REQUIRE(done);
    for (std::size_t i = 0; i < product.out.size(); ++i) {
      const double bound = exact ? 0 : 1e-5 * product.magnitudes[i];
      REQUIRE(std::abs(static_cast<double>(product.out[i]) - product.sums[i]) <= bound);
    }
    ++ran;
  }
  return ran;
}

}  // namespace

TEST_CASE("sums of weights less their zero points are those of float64", "[zero_points]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  int ran = 0;
  for (int i = 0; i < 60; ++i) {
    const bool exact = coin(random);
    Product product(random, coin(random) ? DType::u4 : DType::u8, exact);
    CAPTURE(i, exact, product.arguments.b_scale_granularity, product.arguments.a.extents,
            product.arguments.b.extents);
    ran += check(product, exact);
  }
  CHECK(ran > 100);
}

TEST_CASE("a problem with zero points is words that mean it", "[zero_points]") {
  const std::string text = detail::gemm::Rules::command_text(with_zeros());
  CHECK_THAT(text, Catch::Contains(" --b-scale 1x64 --b-zero u8 "));
}
