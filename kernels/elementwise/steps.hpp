/// What launches of elementwise kernels are made of, also for expressions with reductions. Host only.
#pragma once

#include <algorithm>
#include <cstddef>

#include "elementwise/config.hpp"
#include "elementwise/family.hpp"

namespace quarry::elementwise {

/// What addresses and strides of a tensor of such elements must be multiples of, in bytes.
constexpr int access_bytes(const Config& c, int element) {
  return std::min(widest_access, c.elements * element);
}

/// Says which pointers of the parameters belong to operands. @param params in the launch's image
void relocate_tensors(const ElementwiseProblem& problem, const ElementwiseParams& params, Launch& launch);

/// The operands that a run needs.
void add_uses(const Config& c, const ElementwiseProblem& problem, Launch& launch);

/// How the elements of a problem with reductions are cut into tiles; see ReducedElementwiseParams. It depends
/// on the problem and the config alone, so that sums are the same in every run.
struct ReducedShape {
  long long tiles_across = 0;
  long long tiles_down = 0;
  long long tiles = 0;
  int chunks_of_tile = 1;
  int rows_of_tile = 1;
};
ReducedShape reduced_shape(const Config& c, const ElementwiseProblem& problem);

/// Blocks of the first step, and of the second, which finishes lines; 0: there is none.
long long reduced_blocks(const Config& c, const ReducedShape& shape);
long long finish_blocks(const Config& c, const ElementwiseProblem& problem);

std::size_t reduced_workspace(const Config& c, const ElementwiseProblem& problem);

void launch_reduced(const Config& c, const ElementwiseProblem& problem, Launch& launch);

}  // namespace quarry::elementwise
