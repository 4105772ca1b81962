/// The operation `grouped_gemm`: its arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "quarry/arguments.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/operation.hpp"
#include "quarry/scale_granularity.hpp"
#include "quarry/tensor.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// What the numbers of `sizes` mean, one for each group.
enum class SizesAre : std::uint8_t {
  ends,    ///< where the group ends; it begins where the group before it ends, the first one at 0
  counts,  ///< how many rows (or positions of K) the group has
};

/// "ends" or "counts"; and back.
std::string_view to_string(SizesAre meaning);
Result<SizesAre> parse_sizes_are(std::string_view word);

/// Several GEMMs of the same types, one for each of G groups: out = epilogue(a times b). The ranks of the
/// operands say how the groups lie:
///
///   form         a                b          out              sizes
///   contiguous   rows x K         G x K x N  rows x N         rows of each group, which follow one another
///   masked       G x capacity x K G x K x N  G x capacity x N the first rows of each entry; counts only
///   ragged K     M x T            T x N      G x M x N        columns of A and rows of B that belong to a
///                                                             group; the groups follow one another
///
/// A group may start at any row, and may be empty. Sizes in device memory are read when the kernel runs, and
/// do not change what is launched: a CUDA graph can be replayed with other sizes.
///
/// Sizes that make no sense are clamped, so that groups stay disjoint and nothing outside of the operands is
/// read or written: an end is at least the end of the group before it (0 for the first group), and at most
/// the number of rows (of T, for ragged K); a count is at least 0, and at most the capacity (masked), or the
/// rows that the groups before it left. The host executor refuses such sizes instead, with a message, unless
/// `clamp_host_sizes` is set.
///
/// Not there yet: a bias for each group in the standard epilogue, where it is the same for all groups (an
/// expression may have one), arrays of pointers, interleaved layouts, controls.
struct GroupedGemmArguments {
  static constexpr Operation operation = Operation::grouped_gemm;

  TensorView a;
  TensorView b;
  /// Same type and extents as `out`; may be `out` itself. Needed when beta is not 0.
  std::optional<TensorView> c = std::nullopt;
  TensorView out;
  /// G numbers of type s32, next to each other, in the same kind of memory as the other operands: in device,
  /// managed or pinned memory where these are on a device.
  TensorView sizes;
  SizesAre sizes_are = SizesAre::ends;
  /// Rows of `out` outside of all groups become 0. Otherwise they keep their bytes. Rows of the
  /// epilogue's aux always keep theirs. (An empty group of ragged K has all its rows: its output is the
  /// epilogue of 0.)
  bool zero_outside = false;
  /// The host executor clamps sizes that make no sense, as a device does.
  bool clamp_host_sizes = false;
  /// Scales of A and B in f32, as GemmArguments has them. A's have the rows of A: with masked groups in a
  /// batch, or in a matrix for all groups. B's have rank 3, scales for each group, or rank 2, for all.
  /// Refused with ragged K, where a block of 128 positions of K has no group of its own.
  std::optional<TensorView> a_scale = std::nullopt;
  ScaleGranularity a_scale_granularity = ScaleGranularity::tensor;
  std::optional<TensorView> b_scale = std::nullopt;
  ScaleGranularity b_scale_granularity = ScaleGranularity::tensor;
  /// Type that products are summed in; unset: as GemmArguments has it.
  std::optional<DType> accumulator = std::nullopt;
  /// The bias, the scale and the matrices have the rows of `out`: with masked groups and ragged K, a
  /// matrix of rank 2 and a vector are the same for all groups.
  Epilogue epilogue = {};
  /// A hint for the ranking: how many rows (ragged K: positions of K) all groups have together. Unset: as
  /// many as there is room for.
  std::optional<std::int64_t> expected_total = std::nullopt;
  /// A hint for the ranking: how many of them the largest group has, at most `expected_total`; without that,
  /// no group is expected to have more. The other groups are taken to share the rest. No more than an even
  /// share: all groups have as many. Unset: sizes differ as the distances of random cuts do, unless the
  /// groups fill their room.
  std::optional<std::int64_t> expected_largest = std::nullopt;
  /// What becomes of the sums, compiled into the kernel, in the place of `epilogue` and `c`, as in
  /// GemmArguments: values of an element, gated pairs (B has twice the columns of `out`) and reductions. Rows
  /// outside of all groups have no values: `out` is as `zero_outside` says, and other outputs keep their
  /// bytes. Scales of A and B are refused beside it.
  std::optional<Expression> expression = std::nullopt;
  /// The expression's inputs and outputs but `out`, as in GemmArguments, of the extents of `out`: with
  /// contiguous groups a matrix has the rows of all groups, and a vector per_row a value for each of them.
  /// A vector per_column has N values for all groups, or G x N: N values for each (G x 1: one for each). With
  /// the other forms, whose `out` is a batch of groups, every tensor may have a part for each group.
  std::vector<ExpressionTensor> tensors = {};
};

}  // namespace quarry
