#include "lab/bench/protocol.hpp"

#include <algorithm>
#include <cmath>

namespace quarry::lab {
namespace {

/// A stream takes about a thousand entries before launches wait; a launch may be three of them.
constexpr int most_launches = 256;

std::vector<Spread> spreads_of(std::vector<std::vector<double>> samples) {
  std::vector<Spread> spreads;
  for (std::vector<double>& each : samples) spreads.push_back(spread_of(std::move(each)));
  return spreads;
}

/// The numbers below `count`, each `times` times.
std::vector<std::size_t> numbers(std::size_t count, std::size_t times) {
  std::vector<std::size_t> all(count * times);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i % count;
  return all;
}

}  // namespace

int launches_for(double seconds, double each) {
  const double launches = std::ceil(seconds / std::max(each, 1e-9));
  return static_cast<int>(std::clamp(launches, 2.0, static_cast<double>(most_launches)));
}

Result<std::vector<double>> time_briefly(Bursts& bursts, std::span<const std::size_t> contestants,
                                         std::span<const double> expected, int rounds, Random& dice) {
  std::vector<std::vector<double>> samples(contestants.size());
  std::vector<std::size_t> order = numbers(contestants.size(), 1);
  for (int round = 0; round < rounds; ++round) {
    std::ranges::shuffle(order, dice);
    for (const std::size_t i : order) {
      const int launches = launches_for(brief_seconds, expected[i]);
      if (Status s = bursts.start(0, contestants[i], launches, true); !s) return s;
      const Result<double> seconds = bursts.seconds(0);
      if (!seconds) return seconds.status();
      samples[i].push_back(*seconds);
    }
  }
  std::vector<double> medians;
  for (const Spread& spread : spreads_of(std::move(samples))) medians.push_back(spread.median);
  return medians;
}

std::vector<std::size_t> shortest(std::span<const double> times, std::size_t keep) {
  std::vector<std::size_t> order = numbers(times.size(), 1);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i]; });
  order.resize(std::min(keep, order.size()));
  return order;
}

Result<std::vector<Spread>> time_with_gaps(Bursts& bursts, std::span<const std::size_t> contestants,
                                           int launches, int repeats, Random& dice) {
  std::vector<std::vector<double>> samples(contestants.size());
  std::vector<std::size_t> order = numbers(contestants.size(), static_cast<std::size_t>(repeats));
  std::ranges::shuffle(order, dice);
  for (const std::size_t i : order) {
    bursts.rest();
    if (Status s = bursts.start(0, contestants[i], launches, true); !s) return s;
    const Result<double> seconds = bursts.seconds(0);
    if (!seconds) return seconds.status();
    samples[i].push_back(*seconds);
  }
  return spreads_of(std::move(samples));
}

Result<std::vector<Spread>> time_back_to_back(Bursts& bursts, std::span<const std::size_t> contestants,
                                              int launches, int warm_rounds, int repeats, Random& dice) {
  std::vector<std::size_t> order;
  std::vector<std::size_t> round = numbers(contestants.size(), 1);
  for (int i = 0; i < warm_rounds + repeats; ++i) {
    std::ranges::shuffle(round, dice);
    order.insert(order.end(), round.begin(), round.end());
  }
  // Times are read when all work is on its way: the device never waits for the host.
  for (std::size_t lap = 0; lap < order.size(); ++lap) {
    if (Status s = bursts.start(lap, contestants[order[lap]], launches, false); !s) return s;
  }
  std::vector<std::vector<double>> samples(contestants.size());
  for (std::size_t lap = 0; lap < order.size(); ++lap) {
    const Result<double> seconds = bursts.seconds(lap);
    if (!seconds) return seconds.status();
    if (lap >= contestants.size() * static_cast<std::size_t>(warm_rounds))
      samples[order[lap]].push_back(*seconds);
  }
  return spreads_of(std::move(samples));
}

}  // namespace quarry::lab
