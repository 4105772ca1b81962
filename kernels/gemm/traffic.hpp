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

  double of(Layout layout) const { return layout == Layout::row ? rows : columns; }
};

/// Square roots by which slices of K are balanced.
struct SplitKRoots {
  static constexpr int least_tile_log2 = 3;
  /// Of how many K tiles there are: tiles of 8, 16, ...
  std::array<double, 6> k_tiles = {};
  /// 1 divided by the root of how many outputs there are.
  double outputs_inverse = 0;

  /// 0 where it is not known.
  double of_k_tiles(int tile_k) const {
    const auto size = static_cast<unsigned>(tile_k);
    const auto i = static_cast<std::size_t>(std::countr_zero(size) - least_tile_log2);
    return std::has_single_bit(size) && i < k_tiles.size() ? k_tiles[i] : 0;
  }
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
  /// Of the latter it has C or a residual alone, and no activation; and a bias beside that.
  bool only_adds = false;
  bool adds_bias_too = false;
  /// Whether no tiles, however small, exceed the limit of a grid while K is in one piece, with clusters or
  /// without.
  bool fits_any_grid = false;
  /// Whether it asks for nothing that only some kernels have but the alignment of A and B, see
  /// GemmProfile::takes_plain: no controls beyond the order of tiles, no scales, no gated pairs; and it has
  /// outputs, fits any grid, and its strides are such that tensor maps can have them and lines do not
  /// overlap.
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
