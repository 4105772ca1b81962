/// Probes that do the same to each item of a list.
#pragma once

#include "arch/arch.hpp"
#include "tests/kernels/arch/probe_params.hpp"

namespace quarry::probes {

/// Index of the thread among the threads of all blocks.
template <Block block>
QUARRY_DEVICE int global_thread() {
  return static_cast<int>(arch::block_index()) * block.threads + arch::thread_index();
}

/// Calls f(i) for each item i, spread over all threads.
template <Block block, class Function>
QUARRY_DEVICE void for_each_item(const ProbeParams& params, Function f) {
  const int step = static_cast<int>(arch::grid_blocks()) * block.threads;
  QUARRY_ROLLED
  for (int i = global_thread<block>(); i < params.count; i += step) f(i);
}

/// out[i] = f(in[i]) with inputs of type In and outputs of the type that f answers.
template <Block block, class In, class Function>
QUARRY_DEVICE void map_items(const ProbeParams& params, Function f) {
  using Out = decltype(f(In{}));
  const auto* const in = reinterpret_cast<const In*>(params.in);
  auto* const out = reinterpret_cast<Out*>(params.out);
  for_each_item<block>(params, [&](int i) { arch::global_store(out + i, f(arch::global_load<In>(in + i))); });
}

/// out[i] = fma(in[3 i], in[3 i + 1], in[3 i + 2]) with numbers of type T.
template <Block block, class T>
QUARRY_DEVICE void fma_items(const ProbeParams& params) {
  const auto* const in = reinterpret_cast<const T*>(params.in);
  auto* const out = reinterpret_cast<T*>(params.out);
  for_each_item<block>(params, [&](int i) {
    const T a = arch::global_load<T>(in + 3 * i);
    const T b = arch::global_load<T>(in + 3 * i + 1);
    const T c = arch::global_load<T>(in + 3 * i + 2);
    arch::global_store(out + i, arch::fma(a, b, c));
  });
}

}  // namespace quarry::probes
