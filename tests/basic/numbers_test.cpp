/// f16 and bf16 on the CPU, bit by bit.
#include "basic/numbers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/block_product.hpp"
#include "support/catch_compat.hpp"

using namespace quarry::host;

namespace {

/// A binary format by its numbers of bits, converted by arithmetic in f64 instead of on bits.
struct Format {
  int exponent_bits;
  int mantissa_bits;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int top_exponent() const { return (1 << exponent_bits) - 1; }

  double value(unsigned bits) const {
    const int exponent = static_cast<int>(bits >> mantissa_bits) & top_exponent();
    const int mantissa = static_cast<int>(bits & ((1U << mantissa_bits) - 1));
    const double sign = bits >> (exponent_bits + mantissa_bits) & 1 ? -1 : 1;
    if (exponent == top_exponent()) {
      return mantissa != 0 ? std::numeric_limits<double>::quiet_NaN()
                           : sign * std::numeric_limits<double>::infinity();
    }
    const int hidden = exponent == 0 ? 0 : 1 << mantissa_bits;
    return sign * std::ldexp(hidden + mantissa, std::max(exponent, 1) - bias() - mantissa_bits);
  }

  /// The nearest value, ties to even: f64 has room to scale, round to an integer and scale back.
  double nearest(double x) const {
    if (!std::isfinite(x) || x == 0) return x;
    const int exponent = std::max(std::ilogb(x), 1 - bias());
    const double unit = std::ldexp(1.0, exponent - mantissa_bits);
    const double rounded = std::nearbyint(x / unit) * unit;
    const double beyond = std::ldexp(1.0, top_exponent() - bias());
    return std::abs(rounded) >= beyond ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
  }
};

constexpr Format f16 = {5, 10};
constexpr Format bf16 = {8, 7};

bool same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

/// Checks both directions on all patterns, on all midpoints of neighbours and beside them, and on random f32
/// bits.
template <class ToF32, class FromF32>
void check_format(const Format& format, ToF32 to_f32, FromF32 from_f32) {
  int wrong = 0;
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const double expected = format.value(bits);
    const float value = to_f32(static_cast<std::uint16_t>(bits));
    if (!same(value, expected)) ++wrong;
    if (from_f32(value) != (std::isnan(expected) ? 0x7fffU : bits)) ++wrong;
  }
  CHECK(wrong == 0);

  const auto rounds_right = [&](float x) {
    return same(format.value(from_f32(x)), format.nearest(static_cast<double>(x)));
  };
  const unsigned infinity = static_cast<unsigned>(format.top_exponent()) << format.mantissa_bits;
  for (unsigned bits = 0; bits < infinity; ++bits) {
    const double above = bits + 1 == infinity ? std::ldexp(1.0, format.top_exponent() - format.bias())
                                              : format.value(bits + 1);
    const float middle = static_cast<float>((format.value(bits) + above) / 2);
    for (const float x : {middle, std::nextafter(middle, 0.0F), std::nextafter(middle, INFINITY)}) {
      if (!rounds_right(x) || !rounds_right(-x)) ++wrong;
    }
  }
  CHECK(wrong == 0);

  const unsigned seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!rounds_right(x)) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("f16 conversions are exact and round to the nearest even") {
  check_format(f16, f16_to_f32, f32_to_f16);
  STATIC_REQUIRE(f32_to_f16(65504.0F) == 0x7bff);
  STATIC_REQUIRE(f32_to_f16(65520.0F) == 0x7c00);
  STATIC_REQUIRE(f32_to_f16(0x1p-25F) == 0);
  STATIC_REQUIRE(f32_to_f16(0x1.8p-24F) == 2);
}

TEST_CASE("bf16 conversions are exact and round to the nearest even") {
  check_format(bf16, bf16_to_f32, f32_to_bf16);
  STATIC_REQUIRE(f32_to_bf16(1.00390625F) == 0x3f80);
  STATIC_REQUIRE(f32_to_bf16(std::numeric_limits<float>::max()) == 0x7f80);
}

TEST_CASE("rounding four sums to f16 at once is rounding each") {
  const unsigned seed = quarry::lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int wrong = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    float x[4];
    for (float& value : x) value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (i % 2 == 0) x[0] = f16_to_f32(static_cast<std::uint16_t>(random())) * (1 + 0x1p-11F);
    block_product_detail::Vector<float> vector;
    std::memcpy(&vector, x, sizeof x);
    vector = block_product_detail::rounded_to_f16(vector);
    for (int j = 0; j < 4; ++j) {
      if (!same(vector[j], rounded_to_f16(x[j]))) ++wrong;
    }
  }
  CHECK(wrong == 0);
}
