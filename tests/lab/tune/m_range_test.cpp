// Ranges of M: their text, which values they have, which are measured.
#include "lab/tune/m_range.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using quarry::test::Random;

/// A range with some of its values, one at least.
MRange some_range(Random& random) {
  for (;;) {
    const MRange range = {1 + static_cast<std::int64_t>(random() % 64),
                          100 + static_cast<std::int64_t>(random() % 9000),
                          random() % 3 == 0 ? any_twos : static_cast<TwosOfM>(random() % 256)};
    if (nearest_in(range, range.low)) return range;
  }
}

std::vector<std::int64_t> values_of(const MRange& range) {
  std::vector<std::int64_t> values;
  for (std::int64_t m = range.low; m <= range.high; ++m) {
    if (range.has(m)) values.push_back(m);
  }
  return values;
}

}  // namespace

TEST_CASE("ranges of M as text") {
  const Result<MRange> range = parse_m_range("1..8192");
  REQUIRE(range);
  CHECK(range->low == 1);
  CHECK(range->high == 8192);
  for (const char* bad :
       {"", "..", "1..", "..2", "2..2", "3..2", "0..2", "1-2", "1..2..3", "1..99999999999"}) {
    INFO(bad);
    CHECK(parse_m_range(bad).status().code() == StatusCode::parse_error);
  }
}

TEST_CASE("ranges that have some values: their words, and the nearest value") {
  CHECK(lab::to_string(MRange{1, 8192}) == "1..8192");
  CHECK(lab::to_string(MRange{1, 8192, 0xf8}) == "1..8192 (multiples of 8)");
  CHECK(lab::to_string(MRange{1, 8192, 1}) == "1..8192 (odd)");
  CHECK(lab::to_string(MRange{1, 8192, 0x85}) == "1..8192 (odd, odd multiples of 4, multiples of 128)");
  CHECK(twos_text(any_twos) == "all");
  CHECK(twos_of(1) == 1);
  CHECK(twos_of(12) == 4);
  CHECK(twos_of(1 << 20) == 128);
  CHECK(!nearest_in({5, 4}, 4));
  CHECK(!nearest_in({1, 15, 16}, 8));
  CHECK(!next_probe({1, 15, 16}, {}));
  CHECK(likely_probes({1, 15, 16}).empty());
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    const MRange range = some_range(random);
    const std::vector<std::int64_t> values = values_of(range);
    for (int i = 0; i < 50; ++i) {
      const auto m = static_cast<std::int64_t>(random() % 10'000);
      const auto distance = [&](std::int64_t value) { return std::pair(std::abs(value - m), -value); };
      INFO(m << " in " << lab::to_string(range));
      REQUIRE(nearest_in(range, m) == *std::ranges::min_element(values, {}, distance));
    }
  }
}

TEST_CASE("probes find the crossover points") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const MRange range = some_range(random);
    INFO(lab::to_string(range));
    const std::vector<std::int64_t> values = values_of(range);
    // Winners between a few points, far from each other.
    std::vector<std::int64_t> crossings;
    for (std::int64_t at = range.low + 5; at < range.high;
         at += at + static_cast<std::int64_t>(random() % 500))
      crossings.push_back(at);
    const auto winner = [&](std::int64_t m) {
      const auto next = std::ranges::upper_bound(crossings, m - 1);
      return std::to_string(next - crossings.begin());
    };
    std::map<std::int64_t, std::string> winners;
    std::map<std::int64_t, std::int64_t> above;
    while (const auto probe = next_probe(range, winners)) {
      REQUIRE(range.has(probe->m));
      REQUIRE(probe->above < probe->m);
      REQUIRE(winners.try_emplace(probe->m, winner(probe->m)).second);
      above[probe->m] = probe->above;
      REQUIRE(winners.size() < 250);
    }
    REQUIRE(winners.contains(values.front()));
    REQUIRE(winners.contains(values.back()));
    REQUIRE(above[values.front()] == range.low - 1);
    // Every M is in an interval, and its winner is the right one except near a crossing.
    for (const std::int64_t m : values) {
      auto at = winners.lower_bound(m);
      while (at != winners.end() && at->first != m && above[at->first] >= m) ++at;
      REQUIRE(at != winners.end());
      if (at->second == winner(m)) continue;
      INFO("m " << m << " has the choice of " << at->first);
      REQUIRE(at->first - m <= std::max<std::int64_t>(8, m / 8));
    }
  }
}

TEST_CASE("likely probes are the first ones, and the next ones where winners differ") {
  for (const MRange range : {MRange{1, 8192}, MRange{1, 2}, MRange{3, 300}, MRange{100, 101},
                             MRange{7, 100'000}, MRange{1, 8192, 1}, MRange{9, 900, 0x0c}}) {
    const std::vector<std::int64_t> likely = likely_probes(range);
    REQUIRE(likely.size() >= first_probes(range));
    std::map<std::int64_t, std::string> winners;
    for (std::size_t i = 0; i < first_probes(range); ++i) {
      const auto probe = next_probe(range, winners);
      REQUIRE(probe);
      CHECK(probe->m == likely[i]);
      winners[probe->m] = std::to_string(i);  // each another one
    }
    const auto next = next_probe(range, winners);
    REQUIRE(next.has_value() == (likely.size() > first_probes(range)));
    if (next) CHECK(next->m == likely[first_probes(range)]);
    CHECK(std::set<std::int64_t>(likely.begin(), likely.end()).size() == likely.size());
  }
}

TEST_CASE("probes find winners between two values that have the same one") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const MRange range = {1, 8192};
  for (int round = 0; round < 20; ++round) {
    // Another kernel wins a stretch of a seventh, or more, between powers of two.
    const std::int64_t power = std::int64_t{256} << random() % 5;
    const std::int64_t begin =
        power + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(power / 2));
    const std::int64_t end = begin + begin / 7 + 1;
    std::map<std::int64_t, std::string> winners;
    while (const auto probe = next_probe(range, winners))
      winners.try_emplace(probe->m, probe->m >= begin && probe->m <= end ? "other" : "usual");
    INFO(begin << " to " << end);
    CHECK(std::ranges::any_of(winners, [](const auto& of_m) { return of_m.second == "other"; }));
    CHECK(winners.size() < 80);
  }
}
