/// What a GEMM moves and asks for, whatever the kernel: computed once for all kernels that are ranked for it.
/// Host only.
#pragma once

#include <array>
#include <bit>

#include "common/config_parts.hpp"

namespace quarry {

struct GemmProblem;

/// The share of an operand's lines that begin in the middle of a line of L2, and so touch one more: where its
/// rows are the lines, and where its columns are.
struct SplitLines {
  double rows = 0;
  double columns = 0;

  bool has_any() const { return rows != 0 || columns != 0; }
  double of(Layout layout) const { return layout == Layout::row ? rows : columns; }
};

/// How an operand's lines lie in lines of L2: the share of split ones, or whether a line of L2 holds several
/// of them, where its rows are the lines, and where its columns are.
struct L2Lines {
  SplitLines split;
  bool has_crowded_rows = false;
  bool has_crowded_columns = false;

  bool are_whole() const { return !split.has_any() && !has_crowded_rows && !has_crowded_columns; }
  bool are_crowded(Layout layout) const {
    return layout == Layout::row ? has_crowded_rows : has_crowded_columns;
  }
};

/// Square roots by which slices of K are balanced.
struct SplitKRoots {
  static constexpr int least_tile_log2 = 3;
  /// Of how many K tiles there are: tiles of 8, 16, ...; and 0 for other tiles, for which it is not known.
  static constexpr int known = 6;
  std::array<double, known + 1> k_tiles = {};
  /// 1 divided by the root of how many outputs there are.
  double outputs_inverse = 0;

  /// Where k_tiles has the root for tiles of this size.
  static constexpr int index_of(int tile_k) {
    const int i = std::countr_zero(static_cast<unsigned>(tile_k)) - least_tile_log2;
    return tile_k > 0 && (tile_k & (tile_k - 1)) == 0 && i >= 0 && i < known ? i : known;
  }
};

struct GemmTraffic {
  /// Bytes of A and B, and of all matrices of the output's size, of one entry of the batch; each once.
  double inputs = 0;
  double outputs = 0;
  /// All of it.
  double all = 0;
  /// Of it, bytes of the matrices of an expression.
  double expression = 0;
  /// Elements of all outputs.
  double elements = 0;
  /// Bytes of the smaller one of A and B, both in A's type.
  double smaller = 0;
  /// Bytes that are read or written for one element of the output, and whether they are of several matrices.
  int element = 0;
  bool has_matrices = false;
  /// Whether the epilogue stores sums as they are, or with a bias: not is_general, and no activation.
  bool is_bare = false;
  /// Whether all lines of A and B are whole lines of L2.
  bool has_whole_lines = true;
  L2Lines lines_a;
  L2Lines lines_b;
  /// The share of split lines of the output.
  SplitLines split_out;
  /// Whether the epilogue has an activation; more than that, and a bias.
  bool has_activation = false;
  bool is_general = false;
  /// Of the latter it has C or a residual alone, and no activation; and a bias beside that.
  bool only_adds = false;
  bool adds_bias_too = false;
  /// Whether each column of B has scales of its own.
  bool has_column_scales = false;
  /// Whether it has a gated pair or a reduction; and whether it has outputs and no reductions of lines: then
  /// sums of outputs are all that a workspace holds.
  bool is_wide = false;
  bool keeps_sums_alone = false;
  /// Whether no tiles, however small, exceed the limit of a grid while K is in one piece, with clusters or
  /// without.
  bool fits_any_grid = false;
  /// Whether it asks for nothing that only some kernels have but the alignment of A and B, see
  /// GemmProfile::takes_plain: no controls beyond the order of tiles, no scales, no gated pairs; and it has
  /// outputs, fits any grid, has lines of no more than 2^27 elements, and its strides are such that tensor
  /// maps can have them and lines do not overlap.
  bool is_plain = false;
  /// Only where many kernels are ranked; 0 otherwise.
  SplitKRoots roots = {};
};

GemmTraffic traffic_of(const GemmProblem& problem);
/// GemmTraffic::is_plain
bool is_plain(const GemmProblem& problem);
/// For a query, which balances slices for many kernels.
SplitKRoots split_k_roots(const GemmProblem& problem);

}  // namespace quarry
