/// Turns of the two warpgroups of a block that multiply.
#pragma once

#include "gemm_sm90/shape.cuh"

namespace quarry::gemm_sm90 {

/// Strict alternation from the first turn on, which is warpgroup 0's. Each passes its turn on once, except
/// for the last turn of all.
class Turns {
 public:
  /// @param group of the warpgroup, 0 or 1
  QUARRY_DEVICE explicit Turns(int group) : group_(group), waits_(group == 1) {}

  /// Waits until the other warpgroup has passed the turn on.
  QUARRY_DEVICE void wait() {
    if (waits_) arch::named_barrier(2 + group_, 2 * warpgroup_threads);
    waits_ = true;
  }

  QUARRY_DEVICE void pass_on() const { arch::named_barrier_arrive(3 - group_, 2 * warpgroup_threads); }

 private:
  int group_;
  bool waits_;
};

}  // namespace quarry::gemm_sm90
