/// What a warp knows of all its tiles when their sums are there, in one register.
#pragma once

#include "gemm_sm90/addends.cuh"

namespace quarry::gemm_sm90 {

/// How a tile is stored: the short way, what is common, the long way.
enum class Way { brief, common, general };

/// The warp's rows in a tile, what is added to the sums, how tiles are stored that are not cut, and whether
/// the engine fetches a matrix that the epilogue reads. It is decided once, while the first operands are on
/// their way: behind a tile's sums, the loads and branches of these decisions took 600 cycles. One register,
/// as sums leave few.
class StorePlan {
 public:
  QUARRY_DEVICE StorePlan(int first_row, Added added, Way way, bool fetches)
      : word_(first_row | static_cast<int>(added) << row_bits |
              static_cast<int>(way) << (row_bits + added_bits) | (fetches ? fetching : 0)) {}

  /// First row of the warp in its tile.
  QUARRY_DEVICE int first_row() const { return word() & ((1 << row_bits) - 1); }
  QUARRY_DEVICE Added added() const {
    return static_cast<Added>(word() >> row_bits & ((1 << added_bits) - 1));
  }
  QUARRY_DEVICE Way way() const {
    return static_cast<Way>(word() >> (row_bits + added_bits) & ((1 << way_bits) - 1));
  }
  QUARRY_DEVICE bool fetches() const { return (word() & fetching) != 0; }

 private:
  static constexpr int row_bits = 16;
  static constexpr int added_bits = 2;
  static constexpr int way_bits = 2;
  static constexpr int fetching = 1 << (row_bits + added_bits + way_bits);

  /// Its parts would else be kept in registers of their own.
  QUARRY_DEVICE int word() const { return arch::opaque(word_); }

  int word_;
};

}  // namespace quarry::gemm_sm90
