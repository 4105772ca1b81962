/// The sums of slices become the output: the second half of a parallel split-K.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/epilogue.cuh"
#include "common/lane_value.cuh"
#include "reduce_split_k/config.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry::reduce_split_k {

/// Which quad a thread adds up slices of, and which part of the slices. Neighbouring threads of a warp have
/// neighbouring quads.
struct QuadShare {
  long long quad;
  int part;
  int lane;   ///< of the first part
  int quads;  ///< of a warp: distance of the lanes that share a quad

  QUARRY_DEVICE QuadShare(int block_threads, int sharers_log2) : quads(32 >> sharers_log2) {
    const int own = arch::lane_index();
    part = own >> (5 - sharers_log2);
    lane = own & (quads - 1);
    const int warps = block_threads / 32;
    const long long warp = static_cast<long long>(arch::block_index()) * warps + arch::thread_index() / 32;
    quad = warp * quads + lane;
  }
};

/// Adds up the parts' sums of a quad, the first one first. All lanes of the warp call it; the first part's
/// lane has the sum then. @param parts that have slices
template <class C>
QUARRY_DEVICE void add_parts(const QuadShare& share, int parts, Quad<C>& sum) {
  const Quad<C> own = sum;
  QUARRY_ROLLED
  for (int part = 1; part < parts; ++part) {
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i)
      sum.v[i] = added(sum.v[i], of_lane(own.v[i], share.lane + part * share.quads));
  }
}

/// The kernel: each thread adds up its part of the slices of a quad, the first one first. The quad's first
/// thread adds what the others have, and runs the epilogue on it.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ReduceParams& params) {
  using C = Compute<config.partial>;
  const int quads = quads_of_row(params.n);
  const QuadShare share(threads(config), params.sharers_log2);
  const long long rows = static_cast<long long>(params.batch) * params.m;
  const long long own_row = share.quad / quads;
  const bool exists = own_row < rows;
  if (!exists && params.sharers_log2 == 0) return;  // else it is there for what lanes tell each other
  const long long batch_and_row = exists ? own_row : rows - 1;
  const int batch = static_cast<int>(batch_and_row / params.m);
  const int row = static_cast<int>(batch_and_row % params.m);
  const int column = static_cast<int>(share.quad % quads) * 4;
  const int count = params.n - column < 4 ? params.n - column : 4;

  const long long slice_elements = rows * params.n;
  const auto partial = [&](int slice) {
    const C* const first = static_cast<const C*>(params.partials) + slice * slice_elements;
    return MatrixView<C>(first, params.n, 1).load(batch_and_row, column, count);
  };
  const int sharers = 1 << params.sharers_log2;
  const int of_part = (params.slices + sharers - 1) >> params.sharers_log2;
  const int begin = share.part * of_part;
  const int end = begin + of_part < params.slices ? begin + of_part : params.slices;
  Quad<C> sum = partial(begin < params.slices ? begin : 0);  // of no slices: nobody asks for it
  for (int slice = begin + 1; slice < end; ++slice) {
    const Quad<C> next = partial(slice);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) sum.v[i] = added(sum.v[i], next.v[i]);
  }
  if (params.sharers_log2 > 0) {
    add_parts(share, (params.slices + of_part - 1) / of_part, sum);
    if (share.part > 0 || !exists) return;
  }
  constexpr EpilogueForm form = {.interleaved = is_interleaved(config.layout)};
  const typename Epilogue::template For<C, Element<config.out>, form> epilogue(params, batch);
  finish(epilogue, row, column, count, sum);
}

}  // namespace quarry::reduce_split_k
