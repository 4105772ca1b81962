/// From the sums of a tile to the output by an epilogue that is given as a class of quads
/// (common/epilogue.cuh): each lane hands over the pairs of neighbouring columns that it holds, or their
/// elements where columns are contiguous. For epilogues that have no form of their own for this family.
#pragma once

#include "common/epilogue.cuh"
#include "gemm_sm90/cluster_sum.cuh"
#include "gemm_sm90/work_list.cuh"

namespace quarry::gemm_sm90 {

template <Config config, class Epilogue, class Work>
class PairStore {
  static constexpr bool by_rows = config.layouts.out == Layout::row;
  static constexpr int block_steps = config.tile.n / step_columns(config);
  static constexpr int steps = blocks_m(config) * block_steps;
  using Out = Element<config.types.out>;
  using Sum = SumType<config>;
  using Values = StepValues<step_values(config), Sum>;
  using Finish =
      typename Epilogue::template For<Sum, Out,
                                      EpilogueForm{.by_columns = !by_rows, .batches = Batches::strided}>;

 public:
  /// @param first_row row of the tile where the warpgroup's rows begin
  QUARRY_DEVICE PairStore(const TensorGemmParams& params, arch::SharedAddress memory, int /*group*/,
                          int first_row)
      : params_(params.gemm), memory_(memory), first_row_(first_row + warp_of_group() * OutputBox::rows) {}

  QUARRY_DEVICE void skip() const {}
  QUARRY_DEVICE void start(const Work& /*work*/) const {}
  QUARRY_DEVICE void finish() const {}
  QUARRY_DEVICE static constexpr int stages() { return 0; }

  /// Stores a tile's sums. With split_k_cluster these lie in shared memory instead (leave_sums).
  QUARRY_DEVICE void store(const FinishedSums<config>& sums, const Work& work, unsigned /*stages_done*/,
                           const ClusterPlace& /*place*/) const {
    const Finish epilogue(params_, work.out().batch);
    if (params_.mode == Mode::split_k_cluster) {
      if constexpr (adds_up_in_cluster(config)) {
        QUARRY_ROLLED
        for (int step = arch::cluster_rank(); step < steps; step += arch::cluster_blocks()) {
          Values x = {};
          add_cluster_step<config>(x, Sum{1}, memory_, step);
          write(epilogue, work, step, x);
        }
      }
      return;
    }
    QUARRY_UNROLL
    for (int step = 0; step < steps; ++step) {
      Values x = {};
      add_products<config>(x, Sum{1}, sums, step / block_steps, step % block_steps * step_columns(config));
      write(epilogue, work, step, x);
    }
  }

 private:
  QUARRY_DEVICE void write(const Finish& epilogue, const Work& work, int step, const Values& x) const {
    const int first_row = work.tile_m * config.tile.m + first_row_ + step / block_steps * instruction_m +
                          arch::lane_index() / 4;
    const int first_column =
        work.tile_n * config.tile.n + step % block_steps * step_columns(config) + arch::lane_index() % 4 * 2;
    QUARRY_UNROLL
    for (int pair = 0; pair < step_values(config) / 2; ++pair) {
      const int row = first_row + pair % 2 * 8;
      const int column = first_column + pair / 2 * 8;
      const int left = work.n() - column;
      if (row >= work.m() || left <= 0) continue;
      const Quad<Sum> both = {x.v[2 * pair], x.v[2 * pair + 1], 0, 0};
      if (by_rows) {
        write_line(epilogue, work, row, column, left < 2 ? left : 2, both);
      } else {
        write_line(epilogue, work, column, row, 1, both);
        if (left > 1) write_line(epilogue, work, column + 1, row, 1, {both.v[1], 0, 0, 0});
      }
    }
  }

  /// `count` neighbours of a line: a row of the problem, or a column.
  QUARRY_DEVICE void write_line(const Finish& epilogue, const Work& work, int line, int element, int count,
                                const Quad<Sum>& sum) const {
    if (params_.mode == Mode::split_k_parallel) {
      const int elements = by_rows ? work.n() : work.m();
      const long long matrix = static_cast<long long>(work.slice) * params_.batch + work.batch;
      const MatrixView<Sum> partial(static_cast<Sum*>(params_.partials) + matrix * work.m() * work.n(),
                                    elements, 1);
      partial.store(line, element, count, sum);
      return;
    }
    const int base_line = by_rows ? work.out().row : work.out().column;
    const int base_element = by_rows ? work.out().column : work.out().row;
    quarry::finish(epilogue, base_line + line, base_element + element, count, sum);
  }

  const GemmParams& params_;
  arch::SharedAddress memory_;
  int first_row_;
};

}  // namespace quarry::gemm_sm90
