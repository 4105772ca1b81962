#include "lab/problems/kernel_controls.hpp"

#include <algorithm>

namespace quarry::lab {
namespace {

/// The way of cutting K that a kernel has in the place of one that it has not.
Mode permitted(Mode mode, const ModesMetadata& modes) {
  const auto has = [&modes](Mode one) {
    switch (one) {
      case Mode::split_k_serial: return modes.split_k_serial;
      case Mode::split_k_parallel: return modes.split_k_parallel;
      case Mode::split_k_cluster: return modes.split_k_cluster;
      case Mode::stream_k: return modes.stream_k;
      default: return true;
    }
  };
  for (const Mode one :
       {mode, Mode::split_k_cluster, Mode::split_k_serial, Mode::split_k_parallel, Mode::stream_k}) {
    if (has(one)) return one;
  }
  return Mode::gemm;
}

/// The least multiprocessors that a kernel can keep to; 0 where it keeps to no number.
int least_multiprocessors(const DesignMetadata& design) {
  if (!design.schedule || *design.schedule == Schedule::one_tile) return 0;
  return design.cluster ? design.cluster->m * design.cluster->n : 1;
}

}  // namespace

Controls fitted_controls(Controls controls, const ModesMetadata& modes, const DesignMetadata& design,
                         std::int64_t k_tiles) {
  const int slices = static_cast<int>(std::min<std::int64_t>(controls.split_k_slices.value_or(1), k_tiles));
  if (controls.mode) controls.mode = permitted(*controls.mode, modes);
  const int least = least_multiprocessors(design);
  if (least == 0) controls.multiprocessors.reset();
  if (controls.multiprocessors) controls.multiprocessors = std::max(*controls.multiprocessors, least);
  if (controls.mode == Mode::stream_k) {
    controls.split_k_slices.reset();
    return controls;
  }
  if (slices < 2) controls.mode = Mode::gemm;
  if (controls.mode.value_or(Mode::gemm) == Mode::gemm) {
    controls.mode = Mode::gemm;
    controls.split_k_slices.reset();
  } else {
    controls.split_k_slices = slices;
  }
  return controls;
}

}  // namespace quarry::lab
