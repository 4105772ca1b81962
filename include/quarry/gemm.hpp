/// The operation `gemm`: its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/operation.hpp"
#include "quarry/pointer_array.hpp"
#include "quarry/scale_granularity.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// out (M x N) = epilogue(a (M x K) times b (K x N)). Operands of rank 3 have a batch extent in front: with a
/// stride, or as an array of pointers (PointerArrayView). An input of rank 2 beside them is used for every
/// entry.
struct GemmArguments {
  static constexpr Operation operation = Operation::gemm;

  TensorView a;
  TensorView b;
  /// Same type and extents as `out`; may be `out` itself. Needed when beta is not 0.
  std::optional<TensorView> c = std::nullopt;
  TensorView out;
  /// Scales of A in f32: the value of an element is the stored number times its scale. A matrix with any
  /// strides. Its extents depend on the granularity: 1 x 1 (tensor), M x 1 (row) or M x ceil(K / 128)
  /// (block_1x128; block_1x64 and block_1x32 likewise; the last block may be shorter). Rank 2: the same
  /// scales for the whole batch. Rank 3, or an array of pointers: scales for each entry, independently of how
  /// A has its batch. Not read if alpha is a host value of 0. Refused for an s32 output of s32 sums.
  ///
  /// With block scales of A or B, products are summed in the type of the accumulator within 128 positions of
  /// K. Each such sum is multiplied by its scales and added in f32 (f64 if the accumulator is f64). Otherwise
  /// the whole sum is multiplied by the scales, or a kernel that takes blocks does the same as with blocks.
  ///
  /// Which scales a kernel takes is metadata: `operands.scales`.
  std::optional<TensorView> a_scale = std::nullopt;
  ScaleGranularity a_scale_granularity = ScaleGranularity::tensor;
  /// Scales of B, in the same way: 1 x 1 (tensor), 1 x N (column), ceil(K / 128) x N (block_1x128;
  /// block_1x64 and block_1x32 likewise) or ceil(K / 128) x ceil(N / 128) (block_128x128).
  std::optional<TensorView> b_scale = std::nullopt;
  ScaleGranularity b_scale_granularity = ScaleGranularity::tensor;
  /// Zero points of unsigned weights (B of u4 or u8 beside A of f16 or bf16): the value of an element of B is
  /// its scale times (the stored number less its zero point), which is exact before the scale. u8, of the
  /// extents that the granularity of `b_scale`, without which there are none, gives them; with any strides
  /// and a batch of their own. Kernels that take them have `operands.scales` of zero_points.
  std::optional<TensorView> b_zero = std::nullopt;
  /// Type that products are summed in; unset: f64 for f64 operands, s32 for s8 and u8 operands, f32
  /// otherwise. s32 sums are exact while they fit, which holds up to K = 33,025. Larger sums saturate in
  /// kernels that use tensor cores, and wrap in others.
  std::optional<DType> accumulator = std::nullopt;
  /// How f32 operands may be rounded for speed. Kernels that multiply them as they are qualify for every
  /// value. Operands of other types never change.
  Math math = Math::exact;
  /// How exact sums of 8-bit floating-point operands must be. Kernels on FMA units are as exact as `precise`
  /// asks and qualify for both. Those that take scales of blocks are, too: without scales they take problems
  /// that ask for `precise` alone.
  Accumulation accumulation = Accumulation::fast;
  Epilogue epilogue = {};
  Controls controls = {};
  /// What becomes of the sums, compiled into the kernel, in the place of `epilogue`, which is left as it is,
  /// and of `c`:
  ///
  ///     const auto declared = expression::Declarations::parse("bias=bf16:per_column,gate=bf16:row");
  ///     args.expression = *Expression::parse("out = gelu(sum + bias) * gate", *declared);
  ///     args.tensors = {{"bias", bias}, {"gate", gate}};
  ///
  /// It reads `sum`, of the accumulator's type (f32 for f16 sums), or the two sums of a gated pair. The
  /// kernel that has all sums of an output computes it: with split_k_parallel the reduction, which takes no
  /// gated pairs and no reductions. Of scales of A and B, blocks of 8-bit floating-point operands may stand
  /// beside it, others are refused.
  std::optional<Expression> expression = std::nullopt;
  /// The expression's inputs and outputs but `out`, in any order, each once, at most eight, of the declared
  /// types; without an expression, none. No tensor is called `a`, `b`, `a_scale`, `b_scale` or
  /// `b_zero`.
  ///
  /// A matrix (row or col) has the extents of `out`, or 1 along those that it is broadcast along; extents in
  /// front may be missing. The last extent of a vector is M (per_row) or N (per_column). Strides are any; 0
  /// broadcasts. Outputs have all extents of `out`. An input may be `out` itself, with the same strides and
  /// elements of as many bits; outputs overlap nothing else.
  std::vector<ExpressionTensor> tensors = {};
};

}  // namespace quarry
