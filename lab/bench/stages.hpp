/// What the benchmark of a problem does, in numbers.
#pragma once

#include <cstddef>

namespace quarry::lab {

/// Kernels, and algorithms of the yardstick, that are timed a second time, briefly still, and to the end.
inline constexpr std::size_t second_kernels = 12;
inline constexpr std::size_t last_kernels = 4;
inline constexpr std::size_t second_algorithms = 8;
inline constexpr std::size_t last_algorithms = 3;
/// Problems of this time and more are timed back to back, too: they lower the clock.
inline constexpr double large_seconds = 100e-6;
/// Of the device's work before it counts, so that it reaches its clock.
inline constexpr double warm_seconds = 0.1;
/// Of bursts back to back before they count, so that it comes down again; and of one burst of each kind.
inline constexpr double settle_seconds = 0.25;
inline constexpr double gap_burst_seconds = 300e-6;
inline constexpr double back_to_back_burst_seconds = 2e-3;
/// Rounds of the brief bursts of those that are timed a second time; and bursts with gaps that choose among
/// contestants of large problems.
inline constexpr int second_rounds = 3;
inline constexpr int calm_repeats = 2;

}  // namespace quarry::lab
