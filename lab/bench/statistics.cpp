#include "lab/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace quarry::lab {
namespace {

/// The value that a part of the sorted samples lies below, between two samples as far as it must be.
double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

}  // namespace

Spread spread_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::ranges::sort(samples);
  return {quantile(samples, 0.5), quantile(samples, 0.25), quantile(samples, 0.75)};
}

Standing standing(const Timing& timing, const Timing& yardstick) {
  const auto ratio = [](const Spread& time, const Spread& other) {
    return time.median > 0 ? other.median / time.median : 0;
  };
  Standing standing{.gaps = ratio(timing.gaps, yardstick.gaps)};
  if (timing.back_to_back && yardstick.back_to_back)
    standing.back_to_back = ratio(*timing.back_to_back, *yardstick.back_to_back);
  return standing;
}

Timing fastest(std::span<const Timing> timings) {
  Timing best = timings.front();
  for (const Timing& timing : timings) {
    if (timing.gaps.median < best.gaps.median) best.gaps = timing.gaps;
    if (!timing.back_to_back) continue;
    if (!best.back_to_back || timing.back_to_back->median < best.back_to_back->median)
      best.back_to_back = timing.back_to_back;
  }
  return best;
}

std::size_t best_of(std::span<const Timing> timings, const Timing& yardstick) {
  const auto worse = [&](const Timing& timing) { return standing(timing, yardstick).worse(); };
  return static_cast<std::size_t>(std::ranges::max_element(timings, {}, worse) - timings.begin());
}

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace quarry::lab
