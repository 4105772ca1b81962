/// What a kernel of lists of GEMMs is launched with, and what the sizes of a problem mean. Plain constexpr
/// C++, shared by host and device.
#pragma once

#include "common/config_parts.hpp"
#include "gemm/params.hpp"
#include "gemm_list/stretches.hpp"

namespace quarry {

/// The matrices that have a leading dimension, in the order of a row of `leading`.
enum class ListMatrix : int { a, b, c, out };
inline constexpr int list_matrices = 4;

/// The numbers in a row of `sizes`.
inline constexpr int list_extents = 3;

struct ListParams {
  const int* sizes;    ///< M, N and K of each problem
  const int* leading;  ///< list_matrices of each problem; null: the operands' strides hold
  /// A bit for each ListMatrix: its columns are contiguous, and the leading dimension leads over them.
  unsigned by_columns;
  /// Host executor: sizes that make no sense are clamped, not refused.
  bool clamp_host_sizes;
  ListStretches stretches;
};

/// Parameters of kernels of lists of GEMMs.
struct GemmListParams {
  /// A batch as if all problems were as large as the bounds. `k` is 0 where nothing is multiplied.
  GemmParams gemm;
  ListParams list;
};

/// The same of kernels that take scales. Those of a problem are its entry of a batch of scales.
struct ScaledGemmListParams : GemmListParams {
  GemmScaleParams scales;
};

/// A problem of a list.
struct ListExtents {
  int m;
  int n;
  int k;
};

/// An extent within its bound, whatever it says.
constexpr int clamped_extent(int extent, int bound) {
  return extent < 0 ? 0 : extent > bound ? bound : extent;
}

/// Extents within their bounds.
constexpr ListExtents clamped_extents(const GemmParams& bounds, const ListExtents& given) {
  return {clamped_extent(given.m, bounds.m), clamped_extent(given.n, bounds.n),
          clamped_extent(given.k, bounds.k)};
}

/// What N is a multiple of in a problem with gated pairs: a power of two. Pairs in blocks of eight columns of
/// B come as two blocks. The second of two halves of a row-major B begins where a copy may.
/// @param alignment that a kernel needs of B; 0: none
constexpr int pair_unit(bool eights, Layout b, int alignment) {
  if (eights) return 16;
  return b == Layout::row && alignment > 1 ? 2 * alignment : 2;
}

/// The extents of a problem whose N counts whole units, whatever it says. @param unit a power of two
constexpr ListExtents in_units(ListExtents own, int unit) {
  own.n &= -unit;
  return own;
}

/// The extents of a problem with gated pairs, of which the output has half of B's columns.
constexpr ListExtents with_half_columns(ListExtents own) {
  own.n /= 2;
  return own;
}

/// The extents of a problem's output. @tparam gated it is of gated pairs
template <bool gated>
constexpr ListExtents output_extents(const ListExtents& own) {
  return gated ? with_half_columns(own) : own;
}

constexpr bool is_by_columns(const ListParams& list, ListMatrix matrix) {
  return (list.by_columns >> static_cast<int>(matrix) & 1U) != 0;
}

/// A leading dimension, whatever it says: no less than a line has elements, so that lines do not overlap, and
/// no more than the view's, so that the last line ends within it. @param bound the view's, a multiple of the
/// alignment @param alignment a power of two that it is rounded up to
constexpr long long clamped_leading(int given, int line, long long bound, int alignment) {
  const long long least = given < line ? line : given;
  const long long rounded = (least + alignment - 1) & -static_cast<long long>(alignment);
  return rounded > bound ? bound : rounded;
}

/// An operand whose lines are as far apart as a problem says. @param rows and columns that the problem has
constexpr MatrixParams with_leading(MatrixParams matrix, bool by_columns, int given, int rows, int columns,
                                    int alignment) {
  if (by_columns) {
    matrix.column_stride = clamped_leading(given, rows, matrix.column_stride, alignment);
  } else {
    matrix.row_stride = clamped_leading(given, columns, matrix.row_stride, alignment);
  }
  return matrix;
}

/// The operands of one problem.
struct ListOperands {
  MatrixParams a;
  MatrixParams b;
};

/// Those of the batch, with the problem's own leading dimensions.
/// @param a and b as they were given
constexpr ListOperands operands_with_leading(const GemmParams& gemm, const ListParams& list,
                                             const ListExtents& own, int a, int b, Alignment alignment) {
  return {with_leading(gemm.a, is_by_columns(list, ListMatrix::a), a, own.m, own.k, alignment.a),
          with_leading(gemm.b, is_by_columns(list, ListMatrix::b), b, own.k, own.n, alignment.b)};
}

/// The parameters of the batch, with the problem's own leading dimensions of C and the output.
/// @param own extents of these
/// @param c and out as they were given
constexpr GemmParams outputs_with_leading(const GemmParams& bounds, const ListParams& list,
                                          const ListExtents& own, int c, int out) {
  GemmParams gemm = bounds;
  gemm.c = with_leading(gemm.c, is_by_columns(list, ListMatrix::c), c, own.m, own.n, 1);
  gemm.out = with_leading(gemm.out, is_by_columns(list, ListMatrix::out), out, own.m, own.n, 1);
  return gemm;
}

/// The address of a leading dimension.
constexpr const int* leading_at(const ListParams& list, int number, ListMatrix matrix) {
  return list.leading + (static_cast<long long>(number) * list_matrices + static_cast<int>(matrix));
}

}  // namespace quarry
