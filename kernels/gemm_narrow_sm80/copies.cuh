/// How one group of warps copies what it multiplies into a stage of shared memory.
#pragma once

#include "arch/arch.hpp"
#include "common/operand_part.cuh"
#include "gemm/scale_view.cuh"
#include "gemm_narrow_sm80/config.hpp"

namespace quarry::gemm_narrow_sm80 {

/// Where 16 bytes of a stage lie: columns of B are four or eight pieces long, rows of A sixteen. Pieces of
/// some lines change places, so that lanes which read different lines at once read different banks.
template <int bits>
QUARRY_DEVICE int place_of_b(int column, int piece) {
  constexpr int pieces = bits;
  const int turned = bits == 4 ? column >> 1 & 3 : (column & 3) * 2;
  return column * (16 * pieces) + (piece ^ turned) * 16;
}
QUARRY_DEVICE int place_of_a(int row, int piece) { return row * 256 + (piece ^ (row & 1) * 4) * 16; }

/// Bytes of a piece of 16 that lie before the end of K. @param left elements from its first one on
template <int bits>
QUARRY_DEVICE int valid_bytes(int left) {
  constexpr int whole = 128 / bits;
  if (left >= whole) return 16;
  return left <= 0 ? 0 : (left * bits + 7) / 8;
}

/// Lines of an operand as the threads of a group copy them: each thread has one piece, of every
/// `lines_apart`-th line.
template <int lines, int pieces, int bits, int threads>
class LineCopies {
  static constexpr int lines_apart = threads / pieces;
  static constexpr int rounds = lines / lines_apart;
  static_assert(lines % lines_apart == 0 && rounds <= 32);

 public:
  /// @param thread of the group @param k the group's first position
  QUARRY_DEVICE LineCopies(const OperandPart& part, long long batch_bytes, int thread, int k)
      : line_(thread / pieces), piece_(thread % pieces), stride_(part.extent.stride * bits / 8) {
    const int first = part.extent.first + line_;
    next_ = static_cast<const char*>(part.matrix.data) + batch_bytes + (part.extent.base + first) * stride_ +
            static_cast<long long>(k) * bits / 8 + piece_ * 16;
    QUARRY_UNROLL
    for (int i = 0; i < rounds; ++i) present_ |= (first + i * lines_apart < part.extent.end ? 1u : 0u) << i;
  }

  /// Starts the copies of a stage, and goes on to the next one, `step` positions further on.
  /// @param left positions from the stage's first one to the end of K
  template <class Place>
  QUARRY_DEVICE void start(arch::SharedAddress stage, int left, int step, const Place& place) {
    const int valid = valid_bytes<bits>(left - piece_ * (128 / bits));
    QUARRY_UNROLL
    for (int i = 0; i < rounds; ++i) {
      const int line = line_ + i * lines_apart;
      arch::copy_async<16>(stage + place(line, piece_), next_ + i * lines_apart * stride_,
                           (present_ >> i & 1) != 0 ? valid : 0);
    }
    next_ += static_cast<long long>(step) * bits / 8;
  }

 private:
  const char* next_;
  int line_;
  int piece_;
  long long stride_;
  unsigned present_ = 0;
};

/// Bytes from a matrix's data to a batch entry's.
template <int bits>
QUARRY_DEVICE long long batch_bytes(const MatrixParams& m, int batch) {
  const long long offset = batch_offset(m, batch, 1);
  return is_pointer_array(m) ? offset : offset * bits / 8;
}

/// All copies of a group of warps: stage after stage of its part of the work, each as one group of copies.
template <Config config>
class StageCopies {
  static constexpr int threads = group_threads(config);
  using CopiesA = LineCopies<config.tile.m, 16, 16, threads>;
  static constexpr int bits = weight_bits(config);
  using CopiesB = LineCopies<config.tile.n, stage_k * bits / 128, bits, threads>;

 public:
  template <class Work>
  QUARRY_DEVICE StageCopies(const GemmParams& params, const ScaleParams& scales, const Work& work, int group)
      : thread_(arch::thread_index() % threads),
        k_(work.first_k_tile * config.tile.k + group * stage_k),
        k_end_(work.k()),
        tiles_left_(work.k_tiles),
        a_(part_of_a(params.a, work, config.tile), batch_bytes<16>(params.a, work.a().batch), thread_, k_),
        b_(part_of_b(params.b, work, config.tile), batch_bytes<bits>(params.b, work.b().batch), thread_, k_),
        scales_(scales, work.b().batch),
        scale_log2_(scales.k_log2),
        first_column_(work.tile_n * config.tile.n),
        columns_(work.n()) {}

  /// Starts the next stage; an empty group of copies when there is none.
  QUARRY_DEVICE void start(arch::SharedAddress stage) {
    if (tiles_left_ > 0) {
      const int left = k_end_ - k_;
      b_.start(stage, left, config.tile.k, place_of_b<bits>);
      a_.start(stage + stage_bytes_b(config), left, config.tile.k, place_of_a);
      start_scales(stage + (stage_bytes_b(config) + stage_bytes_a(config)));
      --tiles_left_;
      k_ += config.tile.k;
    }
    arch::copy_async_commit();
  }

 private:
  /// The scales of all columns, for each group of K that the stage has a part of.
  QUARRY_DEVICE void start_scales(arch::SharedAddress to) const {
    constexpr int rounds = config.tile.n / threads;
    const int groups = stage_k >> scale_log2_;
    const int first = scales_.block_at(k_);
    QUARRY_ROLLED
    for (int group = 0; group < groups; ++group) {
      const bool exists = k_ + (group << scale_log2_) < k_end_;
      QUARRY_UNROLL
      for (int i = 0; i < rounds; ++i) {
        const int column = thread_ + i * threads;
        const float* const from = scales_.place(first_column_ + column, columns_, first + group);
        arch::copy_async<4>(to + (group * config.tile.n + column) * 4, from,
                            exists && from != nullptr ? 4 : 0);
      }
    }
  }

  int thread_;
  int k_;
  int k_end_;
  int tiles_left_;
  CopiesA a_;
  CopiesB b_;
  ScaleView scales_;
  int scale_log2_;
  int first_column_;
  int columns_;
};

}  // namespace quarry::gemm_narrow_sm80
