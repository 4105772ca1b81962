// The parts of `quarry bench` that know nothing of devices: statistics, protocol, chart, counts. Time comes
// from a stand-in.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "lab/bench/chart.hpp"
#include "lab/bench/controls.hpp"
#include "lab/bench/protocol.hpp"
#include "lab/bench/result.hpp"
#include "lab/bench/statistics.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

/// Contestants that take a known time, and a journal of what was asked for.
class FakeBursts : public Bursts {
 public:
  explicit FakeBursts(std::vector<double> seconds) : seconds_(std::move(seconds)) {}

  struct Entry {
    std::size_t lap;
    std::size_t contestant;
    int launches;
    bool held;
    bool rested;
  };

  Status start(std::size_t lap, std::size_t contestant, int launches, bool held) override {
    if (contestant == fails) return {StatusCode::device_error, "broken"};
    journal.push_back({lap, contestant, launches, held, rested_});
    rested_ = false;
    laps_[lap] = contestant;
    return {};
  }
  Result<double> seconds(std::size_t lap) override {
    if (laps_.count(lap) == 0) return Status(StatusCode::device_error, "no such lap");
    reads.push_back(journal.size());
    // The first laps are slow, as on a device that is not warm.
    return seconds_[laps_[lap]] * (lap < slow_laps ? 10 : 1);
  }
  void rest() override { rested_ = true; }

  std::vector<Entry> journal;
  /// How many laps had started when a time was read.
  std::vector<std::size_t> reads;
  std::size_t fails = std::numeric_limits<std::size_t>::max();
  std::size_t slow_laps = 0;

 private:
  std::vector<double> seconds_;
  std::map<std::size_t, std::size_t> laps_;
  bool rested_ = false;
};

Timing timing(double gaps, std::optional<double> back_to_back = std::nullopt) {
  Timing made{.gaps = {gaps, gaps, gaps}};
  if (back_to_back) made.back_to_back = Spread{*back_to_back, *back_to_back, *back_to_back};
  return made;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("spreads: median and quartiles") {
  CHECK(spread_of({}).median == 0);
  CHECK(spread_of({3}).median == 3);
  CHECK(spread_of({3}).relative() == 0);
  CHECK(spread_of({4, 1}).median == 2.5);
  const Spread five = spread_of({5, 1, 4, 2, 3});
  CHECK(five.median == 3);
  CHECK(five.low == 2);
  CHECK(five.high == 4);
  CHECK(five.relative() == Approx(2.0 / 3));
}

TEST_CASE("spreads: half of the samples lie on each side of the median, whatever they are") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 dice(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> samples(1 + dice() % 40);
    for (double& each : samples) each = static_cast<double>(dice() % 10);
    const Spread spread = spread_of(samples);
    const auto below = std::ranges::count_if(samples, [&](double x) { return x < spread.median; });
    const auto above = std::ranges::count_if(samples, [&](double x) { return x > spread.median; });
    CHECK(2 * below <= std::ranges::ssize(samples));
    CHECK(2 * above <= std::ranges::ssize(samples));
    CHECK(spread.low <= spread.median);
    CHECK(spread.median <= spread.high);
  }
}

TEST_CASE("standing: a ratio of speeds, the worse of both loads counts") {
  CHECK(standing(timing(2), timing(3)).worse() == 1.5);
  CHECK_FALSE(standing(timing(2), timing(3, 5)).back_to_back);
  const Standing both = standing(timing(2, 4), timing(3, 3));
  CHECK(both.gaps == 1.5);
  CHECK(both.back_to_back == 0.75);
  CHECK(both.worse() == 0.75);
  CHECK(standing(timing(2, 2), timing(1, 3)).worse() == 0.5);
}

TEST_CASE(
    "the yardstick is the fastest under each load, and the best is the one that stands best in its worse") {
  const std::vector<Timing> theirs = {timing(10, 20), timing(12, 15), timing(30, 30)};
  const Timing yardstick = fastest(theirs);
  CHECK(yardstick.gaps.median == 10);
  REQUIRE(yardstick.back_to_back);
  CHECK(yardstick.back_to_back->median == 15);
  // The first is the fastest with gaps, but falls back under load.
  const std::vector<Timing> ours = {timing(9, 20), timing(10, 15), timing(11, 14)};
  CHECK(best_of(ours, yardstick) == 1);
  CHECK(best_of(std::vector<Timing>{timing(9), timing(8), timing(10)}, timing(1)) == 1);
}

TEST_CASE("geometric means") {
  CHECK_FALSE(geometric_mean({}));
  CHECK(geometric_mean(std::vector<double>{0.5, 2}) == Approx(1));
  CHECK(geometric_mean(std::vector<double>{0.9}) == Approx(0.9));
}

TEST_CASE("results: ratios are there as far as there is what they compare") {
  BenchResult result;
  result.kernels = {{.name = "a", .timing = timing(2)}, {.name = "b", .timing = timing(1)}};
  result.best = 1;
  CHECK_FALSE(result.ratio());
  CHECK_FALSE(result.first_ratio());
  CHECK_FALSE(result.algorithm_first_ratio());
  result.first = 0;
  CHECK(result.first_ratio()->worse() == 0.5);
  result.algorithms = {{.name = "x", .timing = timing(1.5)}, {.name = "y", .timing = timing(3)}};
  result.algorithm_first = 1;
  CHECK(result.ratio()->worse() == 1.5);
  CHECK(result.algorithm_first_ratio()->worse() == 0.5);
}

TEST_CASE("controls are told as far as they are unusual") {
  CHECK(controls_text({}).empty());
  CHECK(controls_text({.mode = Mode::gemm, .split_k_slices = 1, .swizzle = 1, .raster = Raster::along_n})
            .empty());
  CHECK(controls_text({.mode = Mode::split_k_parallel,
                       .split_k_slices = 4,
                       .swizzle = 8,
                       .raster = Raster::along_m,
                       .multiprocessors = 120}) ==
        "split_k_parallel 4, raster along_m, swizzle 8, 120 multiprocessors");
  CHECK(controls_text({.mode = Mode::stream_k, .split_k_slices = 1, .multiprocessors = 3}) ==
        "stream_k, 3 multiprocessors");
}

TEST_CASE("bursts have at least two launches, and no more than a stream holds") {
  CHECK(launches_for(300e-6, 1) == 2);
  CHECK(launches_for(300e-6, 11e-6) == 28);
  CHECK(launches_for(300e-6, 0) == 256);
  CHECK(launches_for(300e-6, 1e-7) == 256);
  CHECK(launches_for(0, 1) == 2);
}

TEST_CASE("the shortest times come first, equal ones in their order") {
  const std::vector<double> times = {3, 1, 2, 1};
  CHECK(shortest(times, 3) == std::vector<std::size_t>{1, 3, 2});
  CHECK(shortest(times, 9).size() == 4);
  CHECK(shortest({}, 2).empty());
}

TEST_CASE("brief times: every contestant in every round, for as many launches as its own time asks for") {
  FakeBursts bursts({1e-6, 2e-6, 4e-6, 1e-3});
  lab::Random dice(7);
  const std::vector<std::size_t> who = {3, 1, 2};
  const std::vector<double> expected = {1e-3, 2.1e-6, 4.1e-6};
  const auto times = time_briefly(bursts, who, expected, 3, dice);
  REQUIRE(times);
  CHECK(*times == std::vector<double>{1e-3, 2e-6, 4e-6});
  REQUIRE(bursts.journal.size() == 9);
  for (std::size_t round = 0; round < 3; ++round) {
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < 3; ++i) seen.insert(bursts.journal[3 * round + i].contestant);
    CHECK(seen == std::set<std::size_t>{1, 2, 3});
  }
  for (const auto& entry : bursts.journal) {
    CHECK(entry.held);
    CHECK(entry.launches == (entry.contestant == 3 ? 2 : entry.contestant == 1 ? 48 : 25));
  }
}

TEST_CASE("with gaps: a rest before each burst, all contestants mixed, as many bursts of each") {
  FakeBursts bursts({1e-6, 2e-6, 3e-6});
  lab::Random dice(3);
  const std::vector<std::size_t> who = {2, 0};
  const auto spreads = time_with_gaps(bursts, who, 17, 20, dice);
  REQUIRE(spreads);
  REQUIRE(spreads->size() == 2);
  CHECK((*spreads)[0].median == 3e-6);
  CHECK((*spreads)[1].median == 1e-6);
  REQUIRE(bursts.journal.size() == 40);
  std::size_t changes = 0;
  for (std::size_t i = 0; i < 40; ++i) {
    CHECK(bursts.journal[i].rested);
    CHECK(bursts.journal[i].held);
    CHECK(bursts.journal[i].launches == 17);
    CHECK(bursts.reads[i] == i + 1);  // read before the next begins
    if (i > 0 && bursts.journal[i].contestant != bursts.journal[i - 1].contestant) ++changes;
  }
  CHECK(std::ranges::count_if(bursts.journal, [](const auto& e) { return e.contestant == 2; }) == 20);
  CHECK(changes > 5);
}

TEST_CASE("back to back: all work is on its way before a time is read, warm rounds do not count") {
  FakeBursts bursts({1e-6, 2e-6, 3e-6});
  lab::Random dice(3);
  const std::vector<std::size_t> who = {2, 0, 1};
  constexpr int warm = 4;
  constexpr int repeats = 5;
  bursts.slow_laps = 3 * warm;
  const auto spreads = time_back_to_back(bursts, who, 8, warm, repeats, dice);
  REQUIRE(spreads);
  const std::size_t laps = back_to_back_laps(3, warm, repeats);
  CHECK(laps == 27);
  REQUIRE(bursts.journal.size() == laps);
  for (std::size_t i = 0; i < laps; ++i) {
    CHECK(bursts.journal[i].lap == i);
    CHECK_FALSE(bursts.journal[i].rested);
    CHECK_FALSE(bursts.journal[i].held);
    CHECK(bursts.reads[i] == laps);
  }
  CHECK((*spreads)[0].high == 3e-6);
  CHECK((*spreads)[1].high == 1e-6);
  CHECK((*spreads)[2].high == 2e-6);
}

TEST_CASE("a failing launch ends the timing with its status") {
  const std::vector<std::size_t> who = {0, 1};
  const std::vector<double> expected = {1e-6, 1e-6};
  lab::Random dice(1);
  FakeBursts bursts({1e-6, 1e-6});
  bursts.fails = 1;
  CHECK(time_briefly(bursts, who, expected, 2, dice).status().message() == "broken");
  CHECK(time_with_gaps(bursts, who, 2, 2, dice).status().code() == StatusCode::device_error);
  CHECK(time_back_to_back(bursts, who, 2, 1, 2, dice).status().code() == StatusCode::device_error);
}

TEST_CASE("the chart holds every bar and label, and no text can break it") {
  const ChartTexts texts{.title = "a < b & \"c\"", .axis = "ratio", .first = "gaps", .second = "loaded"};
  const std::vector<ChartBar> bars = {
      {"8x8x8", 1.25, 0.93}, {"<x>", 0.5}, {"nan", std::nan("")}, {"inf", 1, INFINITY}, {"big", 40, 1}};
  const std::string svg = svg_chart(texts, bars);
  CHECK(svg.starts_with("<svg "));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("a &lt; b &amp; &quot;c&quot;") != svg.npos);
  CHECK(svg.find("&lt;x&gt;") != svg.npos);
  CHECK(svg.find("8x8x8") != svg.npos);
  CHECK(svg.find(">0.93<") != svg.npos);
  CHECK(svg.find("nan\"") == svg.npos);
  CHECK(svg.find("inf\"") == svg.npos);
  // The background, two in the legend, and the bars.
  CHECK(count(svg, "<rect ") == 1 + 2 + 8);
  CHECK(count(svg, "<text ") == count(svg, "</text>"));
  CHECK(svg_chart(texts, {}).ends_with("</svg>\n"));
}

TEST_CASE("other controls: each order of tiles once, but for the chosen one") {
  Controls chosen{.mode = Mode::gemm, .split_k_slices = 1, .swizzle = 8, .raster = Raster::along_n};
  const std::vector<Controls> others = other_controls(chosen, {});
  std::set<std::pair<int, int>> seen;
  for (const Controls& other : others) {
    CHECK(other.mode == Mode::gemm);
    CHECK(other.split_k_slices == 1);
    seen.emplace(static_cast<int>(*other.raster), *other.swizzle);
  }
  CHECK(others.size() == 7);
  CHECK(seen.size() == 7);
  CHECK(seen.count({static_cast<int>(Raster::along_n), 8}) == 0);
}

TEST_CASE("other controls: a few slices more and less, two at least") {
  const Controls chosen{.mode = Mode::split_k_cluster, .split_k_slices = 3, .swizzle = 1};
  std::vector<int> slices;
  for (const Controls& other : other_controls(chosen, {})) {
    CHECK(other.mode == Mode::split_k_cluster);
    slices.push_back(*other.split_k_slices);
  }
  CHECK(slices == std::vector<int>{2, 4, 5});
}

TEST_CASE("other controls: what the problem fixes stays") {
  const Controls chosen{.mode = Mode::gemm, .split_k_slices = 1, .swizzle = 2, .raster = Raster::along_m};
  for (const Controls& other : other_controls(chosen, {.swizzle = 2, .multiprocessors = 7})) {
    CHECK(other.swizzle == 2);
    CHECK(other.multiprocessors == 7);
  }
  CHECK(other_controls(chosen, {.swizzle = 2, .raster = Raster::along_m}).empty());
  const Controls cut{.mode = Mode::split_k_parallel, .split_k_slices = 4};
  CHECK(other_controls(cut, {.split_k_slices = 4}).empty());
}
