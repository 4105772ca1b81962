/// The short way of sums to the output: each warp rounds its rows, puts them into shared memory as boxes, and
/// the bulk copy engine stores these while the warp goes on. For plain outputs: alpha times the sums, and
/// nothing else.
#pragma once

#include "common/element.cuh"
#include "common/tile_scheduler.cuh"
#include "gemm/params.hpp"
#include "gemm_sm90/shape.cuh"
#include "gemm_sm90/sums.cuh"

namespace quarry::gemm_sm90 {

/// Puts columns [first, first + box.columns) of a warp's rows into a box of 16-bit elements: eight or sixteen
/// columns at a time as 8 x 8 matrices, of which even ones are the upper rows, and the first two the first
/// eight columns.
template <OutputBox box, class Out, class BlockSums>
QUARRY_DEVICE void fill_box_16(arch::SharedAddress buffer, const BlockSums& sums, int first, float alpha) {
  const int lane = arch::lane_index();
  const auto matrix = [&](int group, int half) {
    const arch::Vector<float, 2> pair = sum_pair(sums, group, half);
    return arch::pair_of<Out>(alpha * pair.v[0], alpha * pair.v[1]);
  };
  QUARRY_UNROLL
  for (int column = 0; column < box.columns; column += 16) {
    const int group = (first + column) / 8;
    const int line = box.row_major ? lane % 16 : column + lane / 16 * 8 + lane % 8;
    const int chunk = box.row_major ? column / 8 + lane / 16 : lane / 8 % 2;
    if (column + 8 < box.columns) {
      const arch::MatrixFragment f = {matrix(group, 0), matrix(group, 1), matrix(group + 1, 0),
                                      matrix(group + 1, 1)};
      const arch::SharedAddress to = buffer + box.chunk_offset(line, chunk);
      box.row_major ? arch::store_matrix_x4(to, f) : arch::store_matrix_x4_transposed(to, f);
    } else {
      const arch::FragmentB f = {matrix(group, 0), matrix(group, 1)};
      // Only the addresses of the first two matrices count, and those of the others must lie in the box as
      // well.
      const int last_line = box.row_major ? line : column + lane % 8;
      const arch::SharedAddress to = buffer + box.chunk_offset(last_line, box.row_major ? column / 8 : chunk);
      box.row_major ? arch::store_matrix_x2(to, f) : arch::store_matrix_x2_transposed(to, f);
    }
  }
}

/// The same of 32-bit elements, by ordinary stores.
template <OutputBox box, class BlockSums>
QUARRY_DEVICE void fill_box_32(arch::SharedAddress buffer, const BlockSums& sums, int first, float alpha) {
  const int row = arch::lane_index() / 4;
  const int pair_column = arch::lane_index() % 4 * 2;
  const auto at = [&](int line, int element) {
    return buffer + (box.chunk_offset(line, element / 4) + element % 4 * 4);
  };
  QUARRY_UNROLL
  for (int column = 0; column < box.columns; column += 8) {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) {
      arch::Vector<float, 2> pair = sum_pair(sums, (first + column) / 8, half);
      pair = {alpha * pair.v[0], alpha * pair.v[1]};
      if constexpr (box.row_major) {
        arch::shared_store(at(row + 8 * half, column + pair_column), pair);
      } else {
        arch::shared_store(at(column + pair_column, row + 8 * half), pair.v[0]);
        arch::shared_store(at(column + pair_column + 1, row + 8 * half), pair.v[1]);
      }
    }
  }
}

/// Stores tiles of a warp, one after another.
template <Config config, class Epilogue>
class BoxStore {
  static constexpr OutputBox box = box_out(config);
  using Out = Element<config.types.out>;
  using Finish = gemm_sm90::Finish<config, Epilogue>;

 public:
  /// @param buffers the warp's part of shared memory for its output
  QUARRY_DEVICE BoxStore(const TensorGemmParams& params, arch::SharedAddress buffers)
      : params_(params), buffers_(buffers), alpha_(alpha_of(params)) {}

  /// Whether the outputs of the launch are stored as boxes. (Where it scales, clamps, adds a residual or
  /// writes aux, the host has said no.)
  QUARRY_DEVICE bool serves() const {
    if constexpr (Finish::has_plain_way) {
      return params_.stores_boxes && params_.gemm.mode == Mode::gemm &&
             Finish::only_multiplies(params_.gemm.epilogue, alpha_);
    }
    return false;
  }

  /// Starts the stores of the warp's sums. @param first_row row of the tile where the warpgroup's rows begin
  QUARRY_DEVICE void store(const Sums<config>& sums, const TileWork& work, int first_row) {
    const int warp_row =
        work.out().row + work.tile_m * config.tile.m + first_row + warp_of_group() * OutputBox::rows;
    const int first_column = work.out().column + work.tile_n * config.tile.n;
    QUARRY_UNROLL
    for (int block = 0; block < blocks_m(config); ++block) {
      QUARRY_UNROLL
      for (int column = 0; column < config.tile.n; column += box.columns) {
        const arch::SharedAddress buffer = acquire();
        if constexpr (sizeof(Out) == 2) {
          fill_box_16<box, Out>(buffer, sums.block[block], column, alpha_);
        } else {
          fill_box_32<box>(buffer, sums.block[block], column, alpha_);
        }
        start(buffer, warp_row + block * instruction_m, first_column + column, work.out().batch);
      }
    }
  }

  /// Waits until shared memory is not read any more.
  QUARRY_DEVICE void finish() const {
    if (arch::lane_index() == 0) arch::tensor_store_wait_read<0>();
  }

 private:
  QUARRY_DEVICE static float alpha_of(const TensorGemmParams& params) {
    if constexpr (Finish::has_plain_way) return Finish::alpha_of(params.gemm.epilogue);
    return 0;
  }

  /// The buffer that is to be filled next, when the copy engine has read it.
  QUARRY_DEVICE arch::SharedAddress acquire() {
    if (arch::lane_index() == 0) arch::tensor_store_wait_read<output_buffers(config) - 1>();
    arch::warp_barrier();
    const arch::SharedAddress buffer = buffers_ + turn_ * output_buffer_bytes(config);
    turn_ = turn_ + 1 == output_buffers(config) ? 0 : turn_ + 1;
    return buffer;
  }

  QUARRY_DEVICE void start(arch::SharedAddress buffer, int row, int column, int batch) const {
    arch::async_proxy_fence();
    arch::warp_barrier();
    if (arch::lane_index() != 0) return;
    arch::tensor_store(params_.out, box.row_major ? column : row, box.row_major ? row : column, batch,
                       buffer);
    arch::tensor_store_commit();
  }

  const TensorGemmParams& params_;
  arch::SharedAddress buffers_;
  float alpha_;
  int turn_ = 0;
};

}  // namespace quarry::gemm_sm90
