/// The list of probes: small kernels, each of which shows what a few functions of the hardware seam do.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "arch/tensor_map.hpp"
#include "tests/kernels/arch/comparison.hpp"
#include "tests/kernels/arch/inputs.hpp"

namespace quarry::test {

/// A tensor of words that a probe's tensor map describes, without gaps.
struct ProbeTensor {
  bool is_out = false;  ///< it lies in `out`, otherwise in `in`
  TensorSwizzle swizzle = TensorSwizzle::none;
  std::array<unsigned, 4> extent = {};  ///< all 0: the probe has no such tensor; the last one is of images
  std::array<unsigned, 3> box = {};
  PixelWalk walk = {};
  bool rounds_to_tf32 = false;

  bool exists() const { return extent[0] != 0; }
  unsigned words() const { return extent[0] * extent[1] * extent[2] * std::max(1U, extent[3]); }
  unsigned box_words() const { return box[0] * box[1] * box[2]; }
  /// What its map is made of. @param data its first word
  TensorMapFields fields(const void* data) const;
};

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
  /// Its entry is one of probes_sm90.cu, for compute capability 9.0 alone.
  bool sm90 = false;
  /// Blocks of a cluster.
  unsigned cluster = 1;
  ProbeTensor tensor = {};

  std::string name() const { return inputs.empty() ? kernel : kernel + "/" + inputs; }
  std::string entry() const { return "probe_" + kernel; }
};

/// Adds the probes of what a warpgroup does together.
void add_warpgroup_probes(std::vector<Probe>& all);
void add_along_k_probes(std::vector<Probe>& all);

/// Adds the probes of clusters, barriers with phases, bulk tensor copies, kernels that overlap.
void add_cluster_probes(std::vector<Probe>& all);

/// Those of bulk tensor copies of pixels.
void add_pixel_probes(std::vector<Probe>& all);

/// All probes.
const std::vector<Probe>& probes();

/// The probe's inputs that belong to a seed.
Words inputs_of(const Probe& probe, std::uint64_t seed);

/// The seed of the recorded results.
inline constexpr std::uint64_t recorded_seed = 20;

}  // namespace quarry::test
