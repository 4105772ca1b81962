/// The operation `gemm_list`: its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/operation.hpp"
#include "quarry/scale_granularity.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// Where the tiles of a list are counted, so that a block finds the problem of its tile.
enum class ListSchedule : std::uint8_t {
  device,  ///< in the kernel: a block reads the sizes of all problems up to its own
  /// At the launch, or when a plan is prepared: a block reads the sizes of a few problems. For long lists.
  host,
};

/// "device" or "host"; and back.
std::string_view to_string(ListSchedule schedule);
Result<ListSchedule> parse_list_schedule(std::string_view word);

/// A list of G GEMMs of the same types and layouts in one launch, each with its own M, N, K, pointers and
/// leading dimensions: out[g] = epilogue(a[g] times b[g]).
///
/// The matrices of problem g are entry g of `a`, `b`, `c` and `out`: of arrays of pointers
/// (PointerArrayView), or of strided batches. (A view of rank 2 is one matrix for all problems.) The views'
/// extents are upper bounds that all problems keep to, and that the host must know: a matrix has its own
/// extents, and only its own elements are touched.
///
/// `sizes` and `leading` may be in device memory. They are read when the kernel runs, and do not change what
/// is launched: a CUDA graph can be replayed with other sizes. Sizes that make no sense are clamped, so that
/// nothing outside of the bounds is touched: extents to [0, bound], leading dimensions to [length of a line,
/// the view's]; with gated pairs, N is rounded down to whole pairs. The host executor refuses such sizes
/// instead, with a message that names the problem, unless `clamp_host_sizes` is set. Problems without rows or
/// columns are skipped, their pointers are not looked at; K = 0 writes the epilogue of 0.
///
/// Not there yet: a bias for each problem in the standard epilogue (a bias, or a scale, is the same for all
/// problems, which use as much of it as they have rows or columns; an expression may have one for each),
/// interleaved layouts, controls.
struct GemmListArguments {
  static constexpr Operation operation = Operation::gemm_list;

  TensorView a;  ///< G x M x K
  TensorView b;  ///< G x K x N
  /// Same type and extents as `out`; may be `out` itself, with the same leading dimensions. Needed when beta
  /// is not 0.
  std::optional<TensorView> c = std::nullopt;
  /// G x M x N; of an expression with gated pairs, N is half of B's columns, which `sizes` and the bounds
  /// count.
  TensorView out;
  /// G x 3 numbers of type s32, rows next to each other: M, N and K of each problem. In the same kind of
  /// memory as the other operands: in device, managed or pinned memory where these are on a device.
  TensorView sizes;
  /// G x 4 numbers of type s32, likewise: elements from one line (row, or column of a column-major operand)
  /// to the next of a, b, c and out; c's is ignored where beta is 0. Any numbers from the length of a line to
  /// the view's are right. Absent: all matrices have their view's.
  std::optional<TensorView> leading = std::nullopt;
  /// A promise, beside `leading`, for all runs of a plan or a captured graph: elements that the leading
  /// dimensions of a and b are multiples of, in every matrix of more than one line. 1 or more. Only kernels
  /// whose alignment divides both this and the view's leading dimension take the list. Where the promise is
  /// broken, such a kernel rounds a leading dimension up on a device, and the host executor refuses it unless
  /// `clamp_host_sizes` is set.
  int leading_alignment = 1;
  /// The host executor clamps sizes that make no sense, as a device does.
  bool clamp_host_sizes = false;
  /// Scales of A and B in f32, as GemmArguments has them, of the bounds' extents: a problem uses as much of
  /// them as it has rows, columns and blocks of K. Arrays of pointers or batches have scales for each
  /// problem; a view of rank 2, for all. Their strides are the view's, whatever `leading` says.
  std::optional<TensorView> a_scale = std::nullopt;
  ScaleGranularity a_scale_granularity = ScaleGranularity::tensor;
  std::optional<TensorView> b_scale = std::nullopt;
  ScaleGranularity b_scale_granularity = ScaleGranularity::tensor;
  /// Type that products are summed in; unset: as GemmArguments has it.
  std::optional<DType> accumulator = std::nullopt;
  /// The bias and the scale have the bounds' rows or columns. A residual and an aux are arrays of pointers or
  /// batches, too; their lines are as far apart as their views say.
  Epilogue epilogue = {};
  /// The 3 G numbers of `sizes` in host memory, where the host knows them. Read during the call alone. A hint
  /// for the ranking, unless `schedule` is host, or kernels that copy pieces of a row-major B compute gated
  /// pairs. Empty: as if all problems were as large as the bounds.
  std::span<const std::int32_t> host_sizes = {};
  /// `host` needs `host_sizes`, which are then a promise, for all runs of a plan or a captured graph: where
  /// `sizes` say something else on a device, tiles may be left out. Nothing outside of the bounds is touched.
  /// `host_sizes` that are negative or exceed the bounds are refused, and the host executor refuses `sizes`
  /// of other tiles than `host_sizes` have. With `clamp_host_sizes`, it goes by `sizes` alone, and
  /// `host_sizes` are clamped.
  ListSchedule schedule = ListSchedule::device;
  /// What becomes of the sums, compiled into the kernel, in the place of `epilogue` and `c`, as in
  /// GemmArguments: values of an element, gated pairs (B has twice the columns of `out`) and reductions.
  /// Scales of A and B are refused beside it.
  std::optional<Expression> expression = std::nullopt;
  /// The expression's inputs and outputs but `out`, as in GemmArguments, of the extents of `out`: batches,
  /// or, if they are inputs, the same for all problems. A problem uses the rows and columns that it has,
  /// which are as far apart as the views say, whatever `leading` says. Arrays of pointers are refused.
  std::vector<ExpressionTensor> tensors = {};
};

}  // namespace quarry
