/// The long way of sums to the output or the workspace: four neighbours of a line at a time, with the whole
/// epilogue.
#pragma once

#include "common/tile_scheduler.cuh"
#include "gemm_sm90/shape.cuh"
#include "gemm_sm90/sums.cuh"

namespace quarry::gemm_sm90 {

/// Finishes the sums of one tile.
template <Config config, class Epilogue>
class LineWriter {
 public:
  QUARRY_DEVICE LineWriter(const GemmParams& params, const TileWork& work)
      : epilogue_(params, work.out().batch), params_(params), work_(work) {}

  /// Takes the sums of the four outputs from (line, element) of the tile on. Those outside the output are
  /// dropped.
  QUARRY_DEVICE void write(int line, int element, const Quad<float>& sum) const {
    const int row_tile = work_.tile_m * config.tile.m;
    const int column_tile = work_.tile_n * config.tile.n;
    const int first_line = (row_lines<config>() ? row_tile : column_tile) + line;
    const int first_element = (row_lines<config>() ? column_tile : row_tile) + element;
    const int lines = row_lines<config>() ? work_.m() : work_.n();
    const int left = (row_lines<config>() ? work_.n() : work_.m()) - first_element;
    if (first_line >= lines || left <= 0) return;
    const int count = left < 4 ? left : 4;
    if (params_.mode == Mode::split_k_parallel) {
      partial_output().store(first_line, first_element, count, sum);
    } else {
      const int base_line = row_lines<config>() ? work_.out().row : work_.out().column;
      const int base_element = row_lines<config>() ? work_.out().column : work_.out().row;
      finish(epilogue_, base_line + first_line, base_element + first_element, count, sum);
    }
  }

 private:
  /// The dense output of this slice and batch entry in the workspace, line after line.
  QUARRY_DEVICE MatrixView<float> partial_output() const {
    const long long matrix = static_cast<long long>(work_.slice) * params_.batch + work_.batch;
    return {static_cast<float*>(params_.partials) + matrix * work_.m() * work_.n(),
            row_lines<config>() ? work_.n() : work_.m(), 1};
  }

  Finish<config, Epilogue> epilogue_;
  const GemmParams& params_;
  const TileWork& work_;
};

/// Puts a pair of sums of neighbouring columns where lines of f32 lie in shared memory.
template <Config config>
QUARRY_DEVICE void store_pair(arch::SharedAddress lines, int line_bytes, int row, int column,
                              const arch::Vector<float, 2>& pair) {
  if constexpr (row_lines<config>()) {
    arch::shared_store(lines + (row * line_bytes + column * 4), pair);
  } else {
    arch::shared_store(lines + (column * line_bytes + row * 4), pair.v[0]);
    arch::shared_store(lines + ((column + 1) * line_bytes + row * 4), pair.v[1]);
  }
}

/// Writes a warp's sums, in passes of a few columns through its part of shared memory. @param first_row row
/// of the tile where the warpgroup's rows begin
template <Config config, class Writer>
QUARRY_DEVICE void write_lines(const Writer& writer, const Sums<config>& sums, arch::SharedAddress staging,
                               int first_row) {
  constexpr int columns = staged_columns(config);
  constexpr int passes = config.tile.n / columns;
  constexpr int line_bytes = staged_line_bytes(config);
  constexpr int quads = staged_line_elements(config) / 4;
  const int lane = arch::lane_index();
  QUARRY_ROLLED
  for (int pass = 0; pass < passes * blocks_m(config); ++pass) {
    arch::warp_barrier();
    QUARRY_UNROLL
    for (int block = 0; block < blocks_m(config); ++block) {
      QUARRY_UNROLL
      for (int column = 0; column < config.tile.n; column += 8) {
        if (block * passes + column / columns != pass) continue;
        QUARRY_UNROLL
        for (int half = 0; half < 2; ++half) {
          store_pair<config>(staging, line_bytes, lane / 4 + 8 * half, column % columns + lane % 4 * 2,
                             sum_pair(sums.block[block], column / 8, half));
        }
      }
    }
    arch::warp_barrier();
    const int row = first_row + pass / passes * instruction_m + warp_of_group() * 16;
    const int column = pass % passes * columns;
    QUARRY_ROLLED
    for (int i = lane; i < staged_lines(config) * quads; i += 32) {
      const int line = i / quads;
      const int element = i % quads * 4;
      const auto quad = arch::shared_load<Quad<float>>(staging + (line * line_bytes + element * 4));
      writer.write((row_lines<config>() ? row : column) + line,
                   (row_lines<config>() ? column : row) + element, quad);
    }
  }
}

}  // namespace quarry::gemm_sm90
