/// Conversions by additions against those that they stand for.
#include <bit>
#include <cstdint>
#include <limits>
#include <random>

#include "arch/arch.hpp"
#include "common/fast_convert.cuh"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

TEST_CASE("whole numbers up to 2^22 become the same floats", "[convert]") {
  constexpr int most = 1 << 22;
  int wrong = 0;
  for (int x = -most; x <= most; ++x) wrong += small_to_float(x) != static_cast<float>(x);
  CHECK(wrong == 0);
  CHECK(small_to_float(most + 1) != static_cast<float>(most + 1));
}

TEST_CASE("floats become the same bytes, whatever they are", "[convert]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float x : {0.0F,
                        -0.0F,
                        0.5F,
                        1.5F,
                        -0.5F,
                        -1.5F,
                        126.5F,
                        127.5F,
                        -127.5F,
                        -128.5F,
                        4194304.0F,
                        -4194304.0F,
                        12582911.0F,
                        -12582912.0F,
                        -12582913.0F,
                        3e38F,
                        -3e38F,
                        1e-45F,
                        infinity,
                        -infinity,
                        std::numeric_limits<float>::quiet_NaN(),
                        -std::numeric_limits<float>::quiet_NaN()}) {
    CAPTURE(x);
    CHECK(fast_to_s8(x) == arch::to_s8(x));
  }
  int wrong = 0;
  for (int i = -200 * 64; i <= 200 * 64; ++i) {  // every half, with neighbours on either side
    for (const int step : {-1, 0, 1}) {
      const float x = std::bit_cast<float>(std::bit_cast<std::int32_t>(static_cast<float>(i) / 64) + step);
      wrong += fast_to_s8(x) != arch::to_s8(x);
    }
  }
  CHECK(wrong == 0);
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 1'000'000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    wrong += fast_to_s8(x) != arch::to_s8(x);
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace quarry
