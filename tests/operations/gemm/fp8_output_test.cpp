/// Outputs of 8-bit floating point: what is rounded, what saturates, and what stays NaN.
#include <array>
#include <cstdint>
#include <limits>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// What the best kernel writes for 1 x 8 numbers.
std::array<std::uint8_t, 8> rounded(const std::array<float, 8>& numbers, DType type) {
  // Operands of 8 bits could not hold the numbers: an expression adds them to sums of 0.
  constexpr std::uint8_t zero = 0;
  std::array<std::uint8_t, 8> zeros = {};
  std::array<std::uint8_t, 8> out = {};
  GemmArguments args = {.a = TensorView::row_major(&zero, DType::e4m3, {1, 1}),
                        .b = TensorView::row_major(zeros.data(), DType::e4m3, {1, 8}),
                        .out = TensorView::row_major(out.data(), type, {1, 8})};
  const auto declared = expression::Declarations::parse("x=f32:row");
  REQUIRE(declared);
  args.expression = *Expression::parse("out = sum + x", *declared);
  args.tensors = {{"x", TensorView::row_major(numbers.data(), DType::f32, {1, 8})}};
  const Result<Candidate> best = find_best(args);
  REQUIRE(best);
  REQUIRE(best->run(args));
  return out;
}

TEST_CASE("outputs of e4m3 are rounded to the nearest, and saturate") {
  using Codes = std::array<std::uint8_t, 8>;
  // 1.0625 lies between 1 and 1.125, 1.1875 between 1.125 and 1.25: ties go to even.
  CHECK(rounded({1, 1.0625F, 1.1875F, 447, 449, 1e9F, -infinity, nan}, DType::e4m3) ==
        Codes{0x38, 0x38, 0x3a, 0x7e, 0x7e, 0x7e, 0xfe, 0x7f});
  CHECK(rounded({0x1p-10F, 0x1.8p-9F, 0x1.4p-9F, -0x1p-6F, 2e-10F, 240, 464, 480}, DType::e4m3) ==
        Codes{0x00, 0x02, 0x01, 0x88, 0x00, 0x77, 0x7e, 0x7e});
}

TEST_CASE("outputs of e5m2 are rounded to the nearest, and saturate") {
  using Codes = std::array<std::uint8_t, 8>;
  CHECK(rounded({1, 1.125F, 1.375F, 57344, 61440, infinity, -1e9F, nan}, DType::e5m2) ==
        Codes{0x3c, 0x3c, 0x3e, 0x7b, 0x7b, 0x7b, 0xfb, 0x7f});
  CHECK(rounded({0x1p-16F, 0x1p-17F, 0x1.8p-16F, -0x1p-14F, 0, 3, 3.5F, 4}, DType::e5m2) ==
        Codes{0x01, 0x00, 0x02, 0x84, 0x00, 0x42, 0x43, 0x44});
}

TEST_CASE("sums of e4m3 that are too large for an output of e4m3 saturate") {
  std::array<std::uint8_t, 64> a;
  std::array<std::uint8_t, 64> b;
  a.fill(0x60);  // 32
  b.fill(0x38);  // 1
  std::array<std::uint8_t, 2> out = {};
  // 2 x 32 times 32 x 1: 1024 in the first row; one operand of the second row is NaN.
  a[33] = 0x7f;
  GemmArguments args = {.a = TensorView::row_major(a.data(), DType::e4m3, {2, 32}),
                        .b = TensorView::column_major(b.data(), DType::e4m3, {32, 1}),
                        .out = TensorView::row_major(out.data(), DType::e4m3, {2, 1})};
  for (const double alpha : {1.0, -1.0}) {
    args.epilogue.alpha = alpha;
    const CandidateList kernels = get_kernels(args);
    REQUIRE_FALSE(kernels.empty());
    for (const Candidate& kernel : kernels) {
      out = {};
      REQUIRE(kernel.run(args));
      CHECK(out == std::array<std::uint8_t, 2>{static_cast<std::uint8_t>(alpha < 0 ? 0xfe : 0x7e), 0x7f});
    }
  }
}

}  // namespace
}  // namespace quarry
