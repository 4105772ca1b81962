// How long a benchmark is expected to take.
#include "lab/bench/duration.hpp"

#include <chrono>
#include <vector>

#include "lab/bench/stages.hpp"
#include "support/catch_compat.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;

double expected(std::size_t kernels, double seconds, const BenchOptions& options = {}, double bytes = 0) {
  return expected_bench_seconds(std::vector<double>(kernels, seconds), true, bytes, options);
}

}  // namespace

TEST_CASE("large problems take longer than small ones, whatever the number of their kernels") {
  CHECK(expected(0, 1) == 0);
  CHECK(expected(32, 10e-6) < expected(8, 2 * large_seconds));
  CHECK(expected(8, 2 * large_seconds) < expected(8, 20 * large_seconds));
  CHECK(expected(8, 2 * large_seconds) < expected(32, 2 * large_seconds));
  CHECK(expected(8, 10e-6, {}, 1e9) > expected(8, 10e-6) + 0.5);
  // Operations without controls have fewer contestants.
  CHECK(expected_bench_seconds(std::vector<double>(8, 1e-3), false, 0, {}) < expected(8, 1e-3));
}

TEST_CASE("the gaps of finalists are counted, of large problems those of all") {
  const BenchOptions none{.gap = std::chrono::milliseconds(0)};
  const BenchOptions some{.gap = std::chrono::milliseconds(10)};
  const double small = expected(2, 10e-6, some) - expected(2, 10e-6, none);
  CHECK(small == Approx(0.01 * some.repeats * last_kernels));
  const double large = expected(2, 1e-3, some) - expected(2, 1e-3, none);
  const double contestants = 2 + 2 * 7;
  CHECK(large ==
        Approx(0.01 * (2 * last_kernels * some.repeats + calm_repeats * (contestants + second_kernels))));
}
