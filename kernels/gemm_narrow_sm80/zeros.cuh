/// How one group of warps brings zero points into its stages: bytes, which asynchronous copies are too wide
/// for, go through registers and become what conversions to A's type take.
#pragma once

#include "arch/weights.hpp"
#include "common/element.cuh"
#include "gemm/zero_view.cuh"
#include "gemm_narrow_sm80/config.hpp"

namespace quarry::gemm_narrow_sm80 {

/// A thread's zero points of one stage: of each of its columns, a byte for each group of K.
template <Config config>
struct StageZeros {
  static constexpr int columns = config.tile.n / group_threads(config);
  unsigned of[columns] = {};
};

/// Reads the zero points of stage after stage, and writes them where the products of a stage find them.
template <Config config>
class ZeroCopies {
  static constexpr int threads = group_threads(config);
  using Zeros = StageZeros<config>;

 public:
  /// @param k the group's first position
  template <class Work>
  QUARRY_DEVICE ZeroCopies(const MatrixParams& zeros, const ScaleParams& scales, const Work& work, int k)
      : view_(zeros, scales, work.b().batch),
        k_log2_(scales.k_log2),
        k_(k),
        k_end_(work.k()),
        thread_(arch::thread_index() % threads),
        first_column_(work.tile_n * config.tile.n),
        last_column_(work.n() - 1) {}

  /// Reads the zero points of the first stages, and writes them, except for the last stage.
  QUARRY_DEVICE void begin(arch::SharedAddress first) {
    Zeros zeros[config.stages - 1];
    QUARRY_UNROLL
    for (int i = 0; i < config.stages - 1; ++i) zeros[i] = fetch();
    QUARRY_UNROLL
    for (int i = 0; i < config.stages - 2; ++i) put(first + i * stage_bytes(config), zeros[i]);
    pending_ = zeros[config.stages - 2];
    stage_ = first + (config.stages - 2) * stage_bytes(config);
  }

  /// Starts to read the zero points of the next stage.
  QUARRY_DEVICE void start(arch::SharedAddress stage) {
    pending_ = fetch();
    stage_ = stage;
  }

  /// Writes what was read last. @pre no thread reads that stage
  QUARRY_DEVICE void land() const { put(stage_, pending_); }

 private:
  /// The zero points of the next stage; behind the end of K: 0.
  QUARRY_DEVICE Zeros fetch() {
    Zeros zeros;
    QUARRY_UNROLL
    for (int i = 0; i < Zeros::columns; ++i) {
      const int column = first_column_ + thread_ + i * threads;
      QUARRY_UNROLL
      for (int group = 0; group < stage_groups; ++group) {
        const int offset = group << k_log2_;
        if (offset < stage_k && k_ + offset < k_end_)
          zeros.of[i] |= view_.at(column < last_column_ ? column : last_column_, k_ + offset) << 8 * group;
      }
    }
    k_ += config.tile.k;
    return zeros;
  }

  QUARRY_DEVICE void put(arch::SharedAddress stage, const Zeros& zeros) const {
    QUARRY_UNROLL
    for (int i = 0; i < Zeros::columns; ++i) {
      QUARRY_UNROLL
      for (int group = 0; group < stage_groups; ++group) {
        if (group << k_log2_ >= stage_k) continue;
        const unsigned zero = zeros.of[i] >> 8 * group & 0xffu;
        const int at = group * config.tile.n + thread_ + i * threads;
        arch::shared_store(stage + (zeros_offset(config) + at * 4),
                           arch::pair_zero<Element<config.types.a>>(zero));
      }
    }
  }

  ZeroView view_;
  int k_log2_;
  int k_;
  int k_end_;
  int thread_;
  int first_column_;
  int last_column_;
  Zeros pending_;
  arch::SharedAddress stage_ = {};
};

/// What kernels without zero points do: nothing.
struct NoZeroCopies {
  QUARRY_DEVICE void begin(arch::SharedAddress) const {}
  QUARRY_DEVICE void land() const {}
  QUARRY_DEVICE void start(arch::SharedAddress) const {}
};

}  // namespace quarry::gemm_narrow_sm80
