/// Controls of products, whatever is multiplied.
#pragma once

#include "quarry/controls.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Whether controls go together, whatever the problem; invalid_arguments otherwise.
Status check_controls(const Controls& controls);

/// Whether a kernel has the mode and the slices that were asked for.
inline bool permits(const ModesMetadata& modes, const Controls& controls) {
  switch (controls.mode.value_or(Mode::gemm)) {
    case Mode::split_k_serial: return modes.split_k_serial;
    case Mode::split_k_parallel: return modes.split_k_parallel;
    case Mode::split_k_cluster: return modes.split_k_cluster;
    case Mode::stream_k: return modes.stream_k;
    default:
      return controls.split_k_slices.value_or(1) == 1 || modes.split_k_serial || modes.split_k_parallel ||
             modes.split_k_cluster;
  }
}

/// The refusal of a kernel that does not permit mode or slices. @pre one of them is set
Status no_such_cut(const Controls& controls);

/// Refuses a number of multiprocessors beside a kernel that is not persistent: its blocks are one for each
/// tile.
Status check_multiprocessors(const DesignMetadata& design, const Controls& controls);

/// The arguments' controls, with the kernel's where they leave something open; both in the orientation of the
/// kernel's entry. Mode and slices go together: where the arguments fix one of them to something else than
/// the kernel's, the kernel's other one says nothing.
Controls merged(const Controls& arguments, const Controls& kernel);

}  // namespace quarry::detail
