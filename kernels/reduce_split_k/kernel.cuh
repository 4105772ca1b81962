/// The sums of slices become the output: the second half of a parallel split-K.
#pragma once

#include "arch/arch.hpp"
#include "common/element.cuh"
#include "common/epilogue.cuh"
#include "reduce_split_k/config.hpp"
#include "reduce_split_k/params.hpp"

namespace quarry::reduce_split_k {

/// The kernel: each thread adds up a quad of all slices, the first one first, and runs the epilogue on it.
template <Config config, class Epilogue = StandardChain>
QUARRY_DEVICE void kernel(const ReduceParams& params) {
  using C = Compute<config.partial>;
  const long long quads = quads_of_row(params.n);
  const long long index =
      static_cast<long long>(arch::block_index()) * threads(config) + arch::thread_index();
  const long long batch_and_row = index / quads;
  if (batch_and_row >= static_cast<long long>(params.batch) * params.m) return;
  const int batch = static_cast<int>(batch_and_row / params.m);
  const int row = static_cast<int>(batch_and_row % params.m);
  const int column = static_cast<int>(index % quads) * 4;
  const int count = params.n - column < 4 ? params.n - column : 4;

  const long long slice_elements = static_cast<long long>(params.batch) * params.m * params.n;
  const auto partial = [&](int slice) {
    const C* const first = static_cast<const C*>(params.partials) + slice * slice_elements;
    return MatrixView<C>(first, params.n, 1).load(batch_and_row, column, count);
  };
  Quad<C> sum = partial(0);
  for (int slice = 1; slice < params.slices; ++slice) {
    const Quad<C> next = partial(slice);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) sum.v[i] = added(sum.v[i], next.v[i]);
  }
  constexpr EpilogueForm form = {.interleaved = is_interleaved(config.layout)};
  const typename Epilogue::template For<C, Element<config.out>, form> epilogue(params, batch);
  finish(epilogue, row, column, count, sum);
}

}  // namespace quarry::reduce_split_k
