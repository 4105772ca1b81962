#include "lab/bench/duration.hpp"

#include <algorithm>
#include <chrono>

#include "lab/bench/protocol.hpp"
#include "lab/bench/stages.hpp"

namespace quarry::lab {
namespace {

/// Random operands, their way to the device, and the memory's end.
constexpr double seconds_per_byte = 1e-9;
/// The first run of a kernel: its code on the way to the device, the result on the way back.
constexpr double first_run_seconds = 2e-3;
/// Other controls of a kernel, about.
constexpr std::size_t other_controls_of_one = 7;

double burst(double seconds, double each) { return launches_for(seconds, each) * each; }

}  // namespace

double expected_bench_seconds(std::span<const double> predicted, bool has_controls, double bytes,
                              const BenchOptions& options) {
  if (predicted.empty()) return 0;
  const double best = std::ranges::min(predicted);
  const bool is_large = best >= large_seconds;
  const auto count = [](std::size_t number) { return static_cast<double>(number); };
  const std::size_t others =
      has_controls ? std::min(options.vary, predicted.size()) * other_controls_of_one : 0;
  const std::size_t all = predicted.size() + others;
  const double second = count(std::min(all, second_kernels));
  // The best of brief bursts, and of large problems the best of bursts with gaps, too.
  const double last = count(std::min(all, is_large ? 2 * last_kernels : last_kernels));
  const double gap = std::chrono::duration<double>(options.gap).count() + burst(gap_burst_seconds, best);

  double seconds = bytes * seconds_per_byte + count(all) * first_run_seconds + warm_seconds;
  for (const double each : predicted) seconds += burst(brief_seconds, each);
  seconds += (count(others) + second_rounds * second) * burst(brief_seconds, best);
  seconds += last * options.repeats * gap;
  if (!is_large) return seconds;
  seconds += (count(all) + second) * calm_repeats * gap;
  return seconds + settle_seconds + last * options.repeats * burst(back_to_back_burst_seconds, best);
}

}  // namespace quarry::lab
