/// What a warp knows of all its tiles when their sums are there, in one register.
#pragma once

#include "gemm_sm90/addends.cuh"

namespace quarry::gemm_sm90 {

/// How a tile is stored: the short way, what is common, the long way.
enum class Way { brief, common, general };

/// The warp's rows in a tile, what is added to the sums, and how tiles are stored that are not cut. It is
/// decided once, while the first operands are on their way: behind a tile's sums, the loads and branches of
/// these decisions took 600 cycles. One register, as sums leave few.
class StorePlan {
 public:
  QUARRY_DEVICE StorePlan(int first_row, Added added, Way way)
      : word_(arch::opaque(first_row | static_cast<int>(added) << row_bits |
                           static_cast<int>(way) << (row_bits + added_bits))) {}

  /// First row of the warp in its tile.
  QUARRY_DEVICE int first_row() const { return word_ & ((1 << row_bits) - 1); }
  QUARRY_DEVICE Added added() const {
    return static_cast<Added>(word_ >> row_bits & ((1 << added_bits) - 1));
  }
  QUARRY_DEVICE Way way() const { return static_cast<Way>(word_ >> (row_bits + added_bits)); }

 private:
  static constexpr int row_bits = 16;
  static constexpr int added_bits = 2;

  int word_;
};

}  // namespace quarry::gemm_sm90
