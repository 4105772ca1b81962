/// Convolutions of tensors whose channels lie in groups of 32: steps in front of the kernel copy what it
/// reads to neighbouring channels in the workspace, a step behind it copies the output back. Host only.
#pragma once

#include <cstddef>

#include "conv2d/problem.hpp"
#include "launch.hpp"

namespace quarry::conv2d_sm90 {

/// The same convolution of packed tensors with neighbouring channels, which have no addresses yet; K is in
/// one piece.
/// @pre a fprop of one group whose channels and filters come in 32s; the output is not empty
Conv2dProblem with_neighbours(const Conv2dProblem& problem);

/// What the copies take: how many there are, the bytes of their tensors in the workspace, the bytes that
/// they read and write, and those among them that the kernel has just written.
struct ReorderCost {
  int copies = 0;
  std::size_t workspace = 0;
  double moved = 0;
  double just_written = 0;
};
ReorderCost reorder_cost(const Conv2dProblem& problem);

/// Makes of a launch for with_neighbours() one for the problem: moves A, B, C and the output to the
/// workspace, behind what is there, and puts the copies before and behind the kernel. Companion 1 copies A
/// and B, companion 2 the output and C.
void add_reorders(const Conv2dProblem& problem, Launch& launch);

/// Whether a launch has such copies.
bool has_reorders(const Launch& launch);

/// The tensors of such a launch as the caller has them, in the parameters that the host executor takes.
/// @param image of the launch @param params of the kernel with neighbouring channels
Conv2dParams with_groups(const Launch& launch, const std::byte* image, const Conv2dParams& params);

}  // namespace quarry::conv2d_sm90
