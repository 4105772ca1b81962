/// Measurements for tests of tuning tables.
#pragma once

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "registry/tuning/table.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

/// The digest of sources that most of them are of.
inline constexpr std::string_view sources = "these";

/// A measurement without a problem of its own: one of few keys, kernels and times, so that many meet.
inline detail::Measurement random_measurement(Random& random) {
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  detail::Measurement m;
  m.device = random() % 4 == 0 ? "NVIDIA H100 80GB HBM3" : "NVIDIA H200";
  m.sources = random() % 8 == 0 ? "other" : sources;
  m.operation = "gemm";
  m.key = {detail::digest_of(text(random() % 3)), static_cast<std::int64_t>(random() % 40)};
  m.problem = "gemm " + text(static_cast<std::uint64_t>(m.key.m)) + "x64x64 f16";
  m.above = random() % 2 == 0 ? m.key.m - 1 : between(random, -1, static_cast<int>(m.key.m) - 1);
  m.kernel = "kernel_" + text(random() % 6);
  if (coin(random)) m.controls.mode = static_cast<Mode>(between(random, 0, 4));
  if (coin(random)) m.controls.split_k_slices = between(random, 1, 3);
  if (coin(random)) m.controls.swizzle = 1 << between(random, 0, 3);
  if (coin(random)) m.controls.raster = static_cast<Raster>(between(random, 0, 1));
  m.workspace = random() % 3 * 1024;
  const auto times = [&] {
    const double first = static_cast<double>(1 + random() % 7) * 1.1;
    return detail::TuningTimes{first, first * 1.25, first * 1.5};
  };
  m.gaps_us = times();
  if (coin(random)) m.load_us = times();
  m.at = static_cast<std::int64_t>(random() % 3);
  return m;
}

inline std::vector<detail::Measurement> random_measurements(Random& random, std::size_t count) {
  std::vector<detail::Measurement> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(random_measurement(random));
  return all;
}

inline detail::TuningTable table_of(std::span<const detail::Measurement> measurements) {
  detail::TuningTable table;
  for (const detail::Measurement& each : measurements) table.add(each);
  return table;
}

}  // namespace quarry::test
