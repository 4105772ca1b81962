/// One run-time problem: operands, accumulator, epilogue and controls, in a struct for each operation.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "quarry/pointer_array.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// alpha or beta: a host value, or a device pointer to one value of the compute type that is read
/// when the kernel runs: f64 when the accumulator is f64, s32 when accumulator and output are s32, f32
/// otherwise. With host tensors the pointer is a host pointer. In s32, host values must be whole numbers of
/// 32 bits, arithmetic wraps, and only the activations identity and relu are there.
struct Scalar {
  double value = 0;
  const void* pointer = nullptr;

  Scalar() = default;
  Scalar(double host_value) : value(host_value) {}
  /// A value that is read through `p` when the kernel runs; it must stay valid until then.
  static Scalar at(const void* p) {
    Scalar scalar;
    scalar.pointer = p;
    return scalar;
  }
};

/// Bounds of an output, infinite: none. With an s32 output of s32 sums they are whole numbers or infinite.
struct Clamp {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  friend constexpr bool operator==(const Clamp&, const Clamp&) = default;
};

/// z = alpha * scale * (a x b) + beta * c + bias
/// out = clamp(activation(z) + residual)
struct Epilogue {
  Scalar alpha = 1.0;
  /// With a host value of 0, `c` is never read and may be absent.
  Scalar beta = 0.0;
  Activation activation = Activation::identity;
  /// Slope of leaky_relu for negative values.
  float leaky_slope = 0.01F;
  /// A vector of the output's type: M values when `bias_axis` is row, N when it is column.
  std::optional<TensorView> bias = std::nullopt;
  BiasAxis bias_axis = BiasAxis::column;
  /// A contiguous vector of the compute type (see Scalar), f32 or f64: M values when `scale_axis` is row, N
  /// when it is column, or one value for all. There is none where that type is s32.
  std::optional<TensorView> scale = std::nullopt;
  BiasAxis scale_axis = BiasAxis::column;
  /// Same type and extents as `out` (rank 2 beside a batch: the same for all of it); may be `out` itself.
  std::optional<TensorView> residual = std::nullopt;
  /// Same type and extents as `out`, in memory of its own: z, rounded, is written to it (through the view's
  /// pointer), for training.
  std::optional<TensorView> aux = std::nullopt;
  Clamp clamp = {};
};

/// Run-time performance choices. What is unset, the registry chooses.
struct Controls {
  std::optional<Mode> mode = std::nullopt;
  /// Slices of K, 1 or more; more than one needs a split-K mode.
  std::optional<int> split_k_slices = std::nullopt;
  /// Tiles of neighbouring columns that are walked together for L2 reuse: 1, 2, 4 or 8.
  std::optional<int> swizzle = std::nullopt;
  /// Along which extent of the output tiles are walked first.
  std::optional<Raster> raster = std::nullopt;
  /// Most multiprocessors that the kernel may use, 1 or more; only persistent kernels keep to it.
  std::optional<int> multiprocessors = std::nullopt;
};

/// out (M x N) = epilogue(a (M x K) times b (K x N)). Rank 3 operands carry a batch in front, by a stride or
/// through an array of pointers (PointerArrayView); a rank 2 input beside them is the same for the whole
/// batch.
struct GemmArguments {
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

/// out (M x N) = epilogue(partials[0] + partials[1] + ...): the second half of a GEMM in the mode
/// split_k_parallel, for sums that the caller has already. The epilogue's product is the sum. Slices are
/// added in their order, in their own type; sums of s32 wrap.
struct ReduceSplitKArguments {
  /// Partial sums, f32, f64 or s32: slices x M x N, or slices x batch x M x N beside an out of rank 3. At
  /// least one slice. Packed: each stride is the product of the extents behind it, as TensorView::row_major
  /// makes them (that of an extent of 1 does not count). Read even if alpha is 0.
  TensorView partials;
  /// Same type and extents as `out`; may be `out` itself. Needed when beta is not 0.
  std::optional<TensorView> c = std::nullopt;
  TensorView out;
  Epilogue epilogue = {};
};

}  // namespace quarry
