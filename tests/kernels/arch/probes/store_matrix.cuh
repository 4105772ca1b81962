/// Probes of arch/.../store_matrix.hpp.
#pragma once

#include "arch/sm90.hpp"
#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

/// `in`: the words of each thread's fragment, then the line that it names, other than the others' lines.
/// `out`: all lines; those that nobody names keep their number.
template <Block block, class Fragment, class Store>
QUARRY_DEVICE void show_stored(const ProbeParams& params, Store store) {
  constexpr int words = sizeof(Fragment) / 4;
  constexpr int line_words = 4;
  const arch::SharedAddress base = arch::shared_memory();
  const int me = arch::thread_index();
  for (int i = 0; i < line_words; ++i) arch::shared_store(base + 4 * (line_words * me + i), me);
  arch::block_barrier();
  Fragment fragment;
  QUARRY_UNROLL
  for (int i = 0; i < words; ++i) fragment.v[i] = arch::global_load<unsigned>(params.in + words * me + i);
  const int line = arch::global_load<int>(params.in + words * block.threads + me);
  store(base + 16 * line, fragment);
  arch::block_barrier();
  for (int i = 0; i < line_words; ++i) {
    arch::global_store(params.out + line_words * me + i,
                       arch::shared_load<unsigned>(base + 4 * (line_words * me + i)));
  }
}

template <Block block>
QUARRY_DEVICE void store_matrix_x4(const ProbeParams& params) {
  show_stored<block, arch::MatrixFragment>(
      params, [](arch::SharedAddress line, const auto& f) { arch::store_matrix_x4(line, f); });
}
template <Block block>
QUARRY_DEVICE void store_matrix_x4_transposed(const ProbeParams& params) {
  show_stored<block, arch::MatrixFragment>(
      params, [](arch::SharedAddress line, const auto& f) { arch::store_matrix_x4_transposed(line, f); });
}
template <Block block>
QUARRY_DEVICE void store_matrix_x2(const ProbeParams& params) {
  show_stored<block, arch::FragmentB>(
      params, [](arch::SharedAddress line, const auto& f) { arch::store_matrix_x2(line, f); });
}
template <Block block>
QUARRY_DEVICE void store_matrix_x2_transposed(const ProbeParams& params) {
  show_stored<block, arch::FragmentB>(
      params, [](arch::SharedAddress line, const auto& f) { arch::store_matrix_x2_transposed(line, f); });
}

}  // namespace quarry::probes
