// Loops that are spread over threads.
#include "operations/common/host/parallel.hpp"

#include <atomic>
#include <cstdint>
#include <stdexcept>

#include "support/catch_compat.hpp"

using quarry::host::parallel_for;

TEST_CASE("each piece is done once", "[host]") {
  for (const int threads : {1, 3, 8}) {
    std::atomic<int> times[100] = {};
    parallel_for(100, threads, [&](int, std::int64_t i) { ++times[i]; });
    for (const std::atomic<int>& each : times) REQUIRE(each == 1);
  }
}

TEST_CASE("an exception of a piece reaches the caller, and no further piece is begun", "[host]") {
  for (const int threads : {1, 3}) {
    std::atomic<int> begun = 0;
    const auto work = [&](int, std::int64_t i) {
      ++begun;
      if (i >= 5) throw std::runtime_error("piece");
    };
    CHECK_THROWS_AS(parallel_for(1000, threads, work), std::runtime_error);
    CHECK(begun >= 6);
    CHECK(begun <= 5 + threads);
  }
}
