/// The paths of kernels whose output has the standard epilogue.
#pragma once

#include <cstdint>
#include <span>

#include "lab/problems/dice.hpp"
#include "lab/problems/epilogue_spec.hpp"
#include "lab/problems/path.hpp"

namespace quarry::lab {

/// The parts of a problem that these paths are about. Sizes are drawn, the epilogue is alpha alone, and
/// matrices are aligned (wide_alignment).
struct OutputParts {
  std::int64_t& batch;
  OperandSpec& out;
  EpilogueSpec& epilogue;
  DType compute;  ///< the type that the epilogue computes in
};

struct OutputPath {
  Path path;
  /// Makes the problem one of this path.
  void (*draw)(OutputParts& parts, Dice& dice);
};

/// The plain store, the parts of an epilogue one by one and together, memory that is not aligned, batches.
std::span<const OutputPath> output_paths();

/// Rows and columns of the output.
struct OutputExtents {
  std::int64_t m;
  std::int64_t n;
};

/// Some more than a whole tile, and one that is cut on either side. Lines of the output are whole multiples
/// of wide_alignment, as bulk stores need them.
OutputExtents extents_around(OutputExtents tile, DType out, Layout layout, Dice& dice);

/// What a problem of a path begins with: alpha, a little of anything, and alignment.
void begin_path(OperandSpec& out, EpilogueSpec& epilogue, Dice& dice);

}  // namespace quarry::lab
