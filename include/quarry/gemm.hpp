/// The operation `gemm`: its arguments.
#pragma once

#include <optional>

#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/operation.hpp"
#include "quarry/pointer_array.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// out (M x N) = epilogue(a (M x K) times b (K x N)). Rank 3 operands carry a batch in front, by a stride or
/// through an array of pointers (PointerArrayView); a rank 2 input beside them is the same for the whole
/// batch.
struct GemmArguments {
  static constexpr Operation operation = Operation::gemm;

  TensorView a;
  TensorView b;
  /// Same type and extents as `out`; may be `out` itself. Needed when beta is not 0.
  std::optional<TensorView> c = std::nullopt;
  TensorView out;
  /// Type that products are summed in; unset: f64 for f64 operands, s32 for s8 and u8 ones, f32 otherwise.
  /// s32 sums are exact while they fit, as they do up to K = 33,025. Beyond, they end at the nearest s32 in
  /// kernels that multiply by tensor cores, and wrap in others.
  std::optional<DType> accumulator = std::nullopt;
  /// What may be done to f32 operands to be faster. Kernels that multiply them as they are qualify, too;
  /// operands of other types are never touched.
  Math math = Math::exact;
  Epilogue epilogue = {};
  Controls controls = {};
};

}  // namespace quarry
