/// The list of probes: small kernels, each of which shows what a few functions of the hardware seam do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/arch/comparison.hpp"
#include "tests/arch/inputs.hpp"

namespace quarry::test {

/// A kernel of probes.cu and how it is run.
struct Probe {
  /// Its entry is probe_<kernel>.
  std::string kernel;
  /// Tells runs of one kernel on different inputs apart.
  std::string inputs = {};
  /// The functions that it shows, as `functions_of` names them.
  std::vector<std::string> covers;
  /// Makes `in`; the same words for the same numbers, on every machine.
  Words (*make_inputs)(Random&);
  /// Words of `out`.
  std::size_t out_words;
  Comparison comparison = {};
  unsigned grid = 1;
  unsigned shared_memory = 0;
  /// Counters that blocks share, shown after `out`. Where there are some, blocks may wait for each other.
  std::size_t counters = 0;
  /// Items, where it does the same to each.
  std::size_t items = 0;

  std::string name() const { return inputs.empty() ? kernel : kernel + "/" + inputs; }
  std::string entry() const { return "probe_" + kernel; }
};

/// All probes.
const std::vector<Probe>& probes();

/// The probe's inputs that belong to a seed.
Words inputs_of(const Probe& probe, std::uint64_t seed);

/// The seed of the recorded results.
inline constexpr std::uint64_t recorded_seed = 20;

}  // namespace quarry::test
