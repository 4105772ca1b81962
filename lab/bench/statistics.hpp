/// From samples to what is said of them: medians, ratios, means. Knows nothing of devices.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace quarry::lab {

/// Samples in short: the median, and the quartiles around it.
struct Spread {
  double median = 0;
  double low = 0;   ///< a quarter of the samples is at most this
  double high = 0;  ///< a quarter of the samples is at least this

  /// The distance of the quartiles as a part of the median; 0 for a median of 0.
  double relative() const { return median > 0 ? (high - low) / median : 0; }
};

/// All 0 where there are no samples.
Spread spread_of(std::vector<double> samples);

/// Seconds of one launch, by how the device was loaded.
struct Timing {
  Spread gaps;  ///< idle before each burst
  /// One burst after another; only of large problems.
  std::optional<Spread> back_to_back = std::nullopt;
};

/// How fast something is beside a yardstick: above 1 it is the faster one.
struct Standing {
  double gaps = 0;
  std::optional<double> back_to_back = std::nullopt;

  /// The ratio that counts.
  double worse() const { return back_to_back && *back_to_back < gaps ? *back_to_back : gaps; }
};

Standing standing(const Timing& timing, const Timing& yardstick);

/// The shortest of all under each load, which may be of different contestants. @pre there is one
Timing fastest(std::span<const Timing> timings);

/// The one that stands best beside the yardstick. @pre there is one
std::size_t best_of(std::span<const Timing> timings, const Timing& yardstick);

/// Absent for no values; values are above 0.
std::optional<double> geometric_mean(std::span<const double> values);

}  // namespace quarry::lab
