/// A convolution after its arguments were checked: what families decide and launch by. Host only.
#pragma once

#include "conv2d/params.hpp"
#include "gemm/problem.hpp"

namespace quarry {

/// The product that a convolution is, and how its matrices lie in the tensors. Sizes of 0 are legal.
struct Conv2dProblem {
  Direction direction = Direction::fprop;
  /// A batch entry for each group. Its matrices describe tensors of rank 4, see Conv2dParams.
  GemmProblem product;
  Windows windows = {};
  /// The output as the matrix of the product, where the problem has an expression: kernels that evaluate one
  /// know no tensors of rank 4.
  MatrixParams out_matrix = {};
  /// All tensors have their channels in groups of 32 (InterleavedTaps).
  bool interleaved = false;
  /// K is in one piece whatever would be faster.
  bool whole_k = false;
};

/// Whether the caller wants K in slices.
inline bool asks_for_cut(const Controls& c) {
  return c.split_k_slices.value_or(1) > 1 || (c.mode && *c.mode != Mode::gemm);
}

/// The product for a kernel that does not cut K and has one order of tiles unless the caller asks for
/// another.
inline GemmProblem in_one_piece(GemmProblem product) {
  Controls& c = product.controls;
  c = {.mode = Mode::gemm,
       .split_k_slices = 1,
       .swizzle = c.swizzle.value_or(1),
       .raster = c.raster.value_or(Raster::along_n),
       .multiprocessors = c.multiprocessors};
  return product;
}

/// How often windows look at an element of an image, 1 at least: so often the product's matrix has it.
constexpr float window_repeats(const Windows& w) {
  const double pixels = static_cast<double>(w.rows.extent) * w.columns.extent;
  const double places = static_cast<double>(w.rows.places.size) * w.columns.places.size;
  const double taps = static_cast<double>(w.rows.taps.size) * w.columns.taps.size;
  const double repeats = pixels < 1 ? places * taps : places * taps / pixels;
  return repeats < 1 ? 1 : static_cast<float>(repeats);
}

}  // namespace quarry
