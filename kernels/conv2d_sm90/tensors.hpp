/// What the copy engine is told of a convolution's tensors, and which it can be told of. Host only.
#pragma once

#include "conv2d/problem.hpp"
#include "conv2d_sm90/config.hpp"
#include "conv2d_sm90/params.hpp"
#include "launch.hpp"
#include "quarry/status.hpp"

namespace quarry::conv2d_sm90 {

/// Ok when the copy engine can walk over the windows and address the tensors: one group; steps, corners and
/// distances within its limits; pointers and strides that are multiples of 16 bytes; an output, and
/// tensors of its extents, whose positions lie at even distances. Otherwise the status says what does not
/// fit.
/// @param tile of the product
/// @param in_phases a dgrad with strides, whose output may lie anywhere, and tensors of its extents
Status check_tensors(const Conv2dProblem& problem, const Tile& tile, bool in_phases);

/// The product as gemm_sm90 computes it: the output and what has its extents as matrices, K in whole K tiles
/// of `tile_k`, and with the controls of the problem, except that K may have to be in one piece. @pre
/// check_tensors()
GemmProblem matrix_product(const Conv2dProblem& problem, int tile_k);

/// The same product as the host executor takes it: tensors of rank 4, and K as it is.
Conv2dParams tensor_product(Direction direction, const TensorConv2dParams& params);

/// Adds the maps of A and B. @pre check_tensors(), and K is not 0
void add_tensor_maps(const Config& config, const Conv2dProblem& problem, TensorConv2dParams& params,
                     Launch& launch);

}  // namespace quarry::conv2d_sm90
