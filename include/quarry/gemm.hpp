/// The operation `gemm`: its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/operation.hpp"
#include "quarry/pointer_array.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// How many elements of A or B share a scale.
enum class ScaleGranularity : std::uint8_t {
  tensor,         ///< all of a matrix
  row,            ///< of A: a row
  column,         ///< of B: a column
  block_1x128,    ///< 128 positions of K in one row of A or one column of B
  block_128x128,  ///< of B: 128 positions of K in 128 columns
};

/// "tensor", "row", "column", "1x128" or "128x128"; and back.
std::string_view to_string(ScaleGranularity granularity);
Result<ScaleGranularity> parse_scale_granularity(std::string_view word);

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
  /// Scales of A in f32: an element of A is worth what is stored times its scale. A matrix of any strides, by
  /// granularity 1 x 1 (tensor), M x 1 (row) or M x ceil(K / 128) (block_1x128; the last block may be short).
  /// Rank 2: the same scales for the whole batch; rank 3, or an array of pointers: those of each entry,
  /// whichever way A itself has. Not read where alpha is a host value of 0. An s32 output of s32 sums has
  /// none.
  ///
  /// Where scales of A or B are blocks, products are summed in the accumulator's type within 128 positions of
  /// K, and these sums, times their scales, in f32 (f64 where the accumulator is f64). Otherwise the whole
  /// sum is multiplied by the scales.
  ///
  /// No kernel takes scales yet: each refuses them.
  std::optional<TensorView> a_scale = std::nullopt;
  ScaleGranularity a_scale_granularity = ScaleGranularity::tensor;
  /// Scales of B, likewise: 1 x 1 (tensor), 1 x N (column), ceil(K / 128) x N (block_1x128) or ceil(K / 128)
  /// x ceil(N / 128) (block_128x128).
  std::optional<TensorView> b_scale = std::nullopt;
  ScaleGranularity b_scale_granularity = ScaleGranularity::tensor;
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
