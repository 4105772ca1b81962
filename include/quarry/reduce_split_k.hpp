/// The operation `reduce_split_k`: its arguments.
#pragma once

#include <optional>

#include "quarry/arguments.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/operation.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// out (M x N) = epilogue(partials[0] + partials[1] + ...): the second half of a GEMM in the mode
/// split_k_parallel, for partial sums that the caller already has. In the epilogue, the sum takes the place
/// of the product. Slices are added in their order, in their own type; s32 sums wrap.
struct ReduceSplitKArguments {
  static constexpr Operation operation = Operation::reduce_split_k;

  /// Partial sums, f32, f64 or s32: slices x M x N, or slices x batch x M x N beside an out of rank 3. At
  /// least one slice. Packed: each stride is the product of the extents behind it, as TensorView::row_major
  /// makes them (the stride of an extent of 1 is ignored). Read even if alpha is 0.
  TensorView partials;
  /// Same type and extents as `out`; may be `out` itself. Needed when beta is not 0.
  std::optional<TensorView> c = std::nullopt;
  TensorView out;
  Epilogue epilogue = {};
};

}  // namespace quarry
