/// What kernels of lists whose operands move by the bulk tensor copy engine are launched with.
#pragma once

#include "gemm_list/params.hpp"
#include "gemm_sm90/params.hpp"

namespace quarry {

/// The tensor maps of a problem: of its A, of its B and of its output.
inline constexpr int list_maps = 3;

/// A launch has two steps of the same entry. The first one makes the maps of all problems in the workspace,
/// as only the device knows where their matrices lie. The second one multiplies.
struct ListTensorGemmParams : TensorGemmParams {
  ListParams list;
  /// list_maps of each problem, in the workspace. Those of a problem without elements are not made.
  TensorMap* maps;
  /// It is the first step. Its `a`, `b` and `out` are models of the problems' maps.
  bool makes_maps;
};

/// The same of kernels that take scales.
struct ScaledListTensorGemmParams : ListTensorGemmParams {
  GemmScaleParams scales;
};

}  // namespace quarry
