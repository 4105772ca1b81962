/// What a GEMM moves and asks for, whatever the kernel: computed once for all kernels that are ranked for it.
/// Host only.
#pragma once

#include "common/config_parts.hpp"

namespace quarry {

struct GemmProblem;

/// The share of an operand's lines that begin in the middle of a line of L2, and so touch one more: where its
/// rows are the lines, and where its columns are.
struct SplitLines {
  double rows = 0;
  double columns = 0;

  double of(Layout layout) const { return layout == Layout::row ? rows : columns; }
};

struct GemmTraffic {
  /// Bytes of A and B, and of all matrices of the output's size, of one entry of the batch; each once.
  double inputs = 0;
  double outputs = 0;
  /// All of it.
  double all = 0;
  /// Bytes that are read or written for one element of the output.
  int element = 0;
  SplitLines split_a;
  SplitLines split_b;
  /// Whether the epilogue has an activation; more than that, and a bias.
  bool has_activation = false;
  bool is_general = false;
  /// Whether no tiles, however small, exceed the limit of a grid while K is in one piece, with clusters or
  /// without.
  bool fits_any_grid = false;
  /// Whether it asks for nothing that only some kernels have but the alignment of A and B, see
  /// GemmProfile::takes_plain: no controls beyond the order of tiles, no scales, no gated pairs; and it has
  /// outputs, fits any grid, and its strides are such that tensor maps can have them and lines do not
  /// overlap.
  bool is_plain = false;
};

GemmTraffic traffic_of(const GemmProblem& problem);

}  // namespace quarry
