/// Run-time performance choices of any operation.
#pragma once

#include <optional>

#include "quarry/types.hpp"

namespace quarry {

/// Run-time performance choices. The registry chooses the ones that are unset.
struct Controls {
  std::optional<Mode> mode = std::nullopt;
  /// Slices of K, 1 or more; more than one needs a split-K mode.
  std::optional<int> split_k_slices = std::nullopt;
  /// Tiles of neighbouring columns that are walked together for L2 reuse: 1, 2, 4 or 8.
  std::optional<int> swizzle = std::nullopt;
  /// Along which extent of the output tiles are walked first.
  std::optional<Raster> raster = std::nullopt;
  /// The most multiprocessors that the kernel may use, 1 or more. Persistent kernels alone can obey it:
  /// others refuse the problem.
  std::optional<int> multiprocessors = std::nullopt;
};

}  // namespace quarry
