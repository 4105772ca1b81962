/// Measurements of real kernels for real problems, made up, for tests of tuned choices.
#pragma once

#include <string>

#include "quarry/quarry.hpp"
#include "registry/compile/sources.hpp"
#include "registry/operation.hpp"
#include "registry/tuning/measurement.hpp"

namespace quarry::test {

inline constexpr const char* h200_name = "NVIDIA H200";

/// A measurement of a kernel with controls for a problem.
inline detail::Measurement measured(Arguments arguments, const Kernel& kernel, const Controls& controls,
                                    double microseconds) {
  const auto& info = detail::info_of(arguments.operation());
  const Result<detail::TuningKey> key = info.tuning_key(arguments.data());
  detail::Measurement m;
  m.device = h200_name;
  m.sources = detail::sources_digest();
  m.operation = info.name;
  m.problem = "a problem of a test";
  m.key = *key;
  m.above = key->m - 1;
  m.kernel = kernel.name();
  m.controls = controls;
  m.controls.multiprocessors.reset();
  m.gaps_us = {microseconds, microseconds, microseconds};
  return m;
}

/// The same of a candidate.
inline detail::Measurement measured(Arguments arguments, const Candidate& candidate, double microseconds) {
  return measured(arguments, candidate, candidate.controls(), microseconds);
}

/// No tuning table while it lives, and afterwards.
class WithoutTuning {
 public:
  WithoutTuning() { clear_tuning(); }
  ~WithoutTuning() { clear_tuning(); }
  WithoutTuning(const WithoutTuning&) = delete;
  WithoutTuning& operator=(const WithoutTuning&) = delete;
};

}  // namespace quarry::test
