/// What elementwise kernels of expressions with reductions are launched with.
#pragma once

#include "elementwise/params.hpp"

namespace quarry {

/// The work is cut into tiles of a warp: some rows of a matrix, some chunks of columns. What a tile leaves of
/// a reduction lies in the workspace, in slots of 8 bytes, until a second step with the same code adds it up:
///   rows      [reduction][tile across][line], if there is not one tile across, of which rows are finished at
///             once
///   columns   [reduction][tile down][matrix][column]
///   all       [reduction][tile]
struct ReducedElementwiseParams : ElementwiseParams {
  void* partials;
  /// The first slots of the partial values of columns, and of all.
  long long columns_at;
  long long all_at;
  /// Tiles along the columns, and along the rows of each matrix.
  long long tiles_across;
  long long tiles_down;
  int chunks_of_tile;
  int rows_of_tile;
  /// This is the second step.
  bool is_finish;
};

}  // namespace quarry
