/// The matrices that a work writes and reads beside the operands.
#pragma once

#include "arch/sm90.hpp"
#include "gemm_sm90/params.hpp"

namespace quarry::gemm_sm90 {

/// Those of the launch; but in a family whose problems have matrices of their own, by its works, these.
/// @tparam Work what a block does, as TileWork
template <class Work>
struct MatricesOf {
  /// Whether problems have their own. Then `out_map` of a work is the output's tensor map; the engine stores
  /// boxes of some problems and not of others, as `by_boxes` of a work says, and brings nothing that the
  /// epilogue reads.
  static constexpr bool are_own = false;

  QUARRY_DEVICE static const MatrixParams& out(const TensorGemmParams& params, const Work& /*work*/) {
    return params.gemm.out;
  }
  QUARRY_DEVICE static const MatrixParams& c(const TensorGemmParams& params, const Work& /*work*/) {
    return params.gemm.c;
  }
  /// @param matrix the launch's residual or aux
  QUARRY_DEVICE static const MatrixParams& beside(const MatrixParams& matrix, const Work& /*work*/) {
    return matrix;
  }

  /// The batch entries that the work's scales of A and of B are.
  QUARRY_DEVICE static int a_scales(const Work& work) { return work.a().batch; }
  QUARRY_DEVICE static int b_scales(const Work& work) { return work.b().batch; }
};

/// The outputs' maps that a warp stores by, where problems have their own.
template <class Work>
class OwnMaps {
 public:
  /// Lets the engine store by the map of a work's problem, by the lane that will ask it to.
  QUARRY_DEVICE void acquire(const Work& work) {
    if (!work.by_boxes || work.batch == acquired_) return;
    if (arch::lane_index() == 0) arch::acquire_tensor_map(MatricesOf<Work>::out_map(work));
    acquired_ = work.batch;
  }

 private:
  int acquired_ = -1;  ///< the problem whose map was
};

}  // namespace quarry::gemm_sm90
