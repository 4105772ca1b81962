/// Probes of arch/.../number.hpp.
#pragma once

#include "tests/arch/probes/items.cuh"

namespace quarry::probes {

template <Block block>
QUARRY_DEVICE void f32_of_f16(const ProbeParams& params) {
  map_items<block, arch::F16>(params, [](arch::F16 x) { return arch::to_f32(x); });
}

template <Block block>
QUARRY_DEVICE void f32_of_bf16(const ProbeParams& params) {
  map_items<block, arch::BF16>(params, [](arch::BF16 x) { return arch::to_f32(x); });
}

template <Block block>
QUARRY_DEVICE void f16_of_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::to_f16(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_of_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::to_bf16(x); });
}

/// Successive numbers two by two.
template <Block block>
QUARRY_DEVICE void pair_of_f16(const ProbeParams& params) {
  using Pair = arch::Vector<float, 2>;
  map_items<block, Pair>(params, [](const Pair& x) { return arch::pair_of<arch::F16>(x.v[0], x.v[1]); });
}

template <Block block>
QUARRY_DEVICE void pair_of_bf16(const ProbeParams& params) {
  using Pair = arch::Vector<float, 2>;
  map_items<block, Pair>(params, [](const Pair& x) { return arch::pair_of<arch::BF16>(x.v[0], x.v[1]); });
}

template <Block block>
QUARRY_DEVICE void tf32_of_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::to_tf32(x); });
}

template <Block block>
QUARRY_DEVICE void fma_f32(const ProbeParams& params) {
  fma_items<block, float>(params);
}

template <Block block>
QUARRY_DEVICE void fma_f64(const ProbeParams& params) {
  fma_items<block, double>(params);
}

template <Block block>
QUARRY_DEVICE void exp2_approximate(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::exp2_approximate(x); });
}

template <Block block>
QUARRY_DEVICE void reciprocal_approximate(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::reciprocal_approximate(x); });
}

template <Block block>
QUARRY_DEVICE void exp_f64(const ProbeParams& params) {
  map_items<block, double>(params, [](double x) { return arch::exp(x); });
}

template <Block block>
QUARRY_DEVICE void tanh_f64(const ProbeParams& params) {
  map_items<block, double>(params, [](double x) { return arch::tanh(x); });
}

template <Block block>
QUARRY_DEVICE void erfc_f64(const ProbeParams& params) {
  map_items<block, double>(params, [](double x) { return arch::erfc(x); });
}

}  // namespace quarry::probes
