/// In which order contestants are timed, for how long, and which of them stay. Knows nothing of devices: what
/// runs is behind an interface.
#pragma once

#include <cstddef>
#include <random>
#include <span>
#include <vector>

#include "lab/bench/statistics.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// Runs contestants, which it knows by number, and times them.
class Bursts {
 public:
  Bursts() = default;
  virtual ~Bursts() = default;
  Bursts(const Bursts&) = delete;
  Bursts& operator=(const Bursts&) = delete;

  /// Puts `launches` launches of a contestant behind the work that is there, as lap `lap`. Where `held`, they
  /// start when all are there, and nothing else may be running.
  virtual Status start(std::size_t lap, std::size_t contestant, int launches, bool held) = 0;
  /// Seconds of one launch of a lap; waits for its end.
  virtual Result<double> seconds(std::size_t lap) = 0;
  /// Leaves the device idle for the gap.
  virtual void rest() = 0;
};

using Random = std::mt19937_64;

/// Of a brief burst: long enough for events' own time not to matter, short enough for hundreds of
/// contestants.
inline constexpr double brief_seconds = 100e-6;

/// Launches that take about `seconds` when one takes `each`: 2 at least, and no more than a stream holds.
int launches_for(double seconds, double each);

/// Seconds of one launch of each contestant: the median of `rounds` bursts, all contestants in every round,
/// in random order. `expected` says roughly how long each takes.
Result<std::vector<double>> time_briefly(Bursts& bursts, std::span<const std::size_t> contestants,
                                         std::span<const double> expected, int rounds, Random& dice);

/// The numbers of the `keep` shortest times, the shortest first.
std::vector<std::size_t> shortest(std::span<const double> times, std::size_t keep);

/// Bursts of every contestant, `repeats` of each, in random order, the device idle before each.
Result<std::vector<Spread>> time_with_gaps(Bursts& bursts, std::span<const std::size_t> contestants,
                                           int launches, int repeats, Random& dice);

/// Laps that time_back_to_back needs.
constexpr std::size_t back_to_back_laps(std::size_t contestants, int warm_rounds, int repeats) {
  return contestants * static_cast<std::size_t>(warm_rounds + repeats);
}

/// Bursts of all contestants in every round, in random order, without a pause. The first `warm_rounds`, in
/// which clocks settle, do not count.
Result<std::vector<Spread>> time_back_to_back(Bursts& bursts, std::span<const std::size_t> contestants,
                                              int launches, int warm_rounds, int repeats, Random& dice);

}  // namespace quarry::lab
