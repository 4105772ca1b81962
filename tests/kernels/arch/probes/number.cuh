/// Probes of arch/.../number.hpp.
#pragma once

#include "tests/kernels/arch/probes/items.cuh"

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
QUARRY_DEVICE void pair_of_e4m3(const ProbeParams& params) {
  using Pair = arch::Vector<float, 2>;
  map_items<block, Pair>(params, [](const Pair& x) { return arch::pair_of_e4m3(x.v[0], x.v[1]); });
}

template <Block block>
QUARRY_DEVICE void pair_of_e5m2(const ProbeParams& params) {
  using Pair = arch::Vector<float, 2>;
  map_items<block, Pair>(params, [](const Pair& x) { return arch::pair_of_e5m2(x.v[0], x.v[1]); });
}

template <Block block>
QUARRY_DEVICE void f16_of_s8(const ProbeParams& params) {
  map_items<block, arch::S8x4>(params, [](arch::S8x4 x) { return arch::low_pair_of<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_of_u8(const ProbeParams& params) {
  map_items<block, arch::U8x4>(params, [](arch::U8x4 x) { return arch::low_pair_of<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_of_s8(const ProbeParams& params) {
  map_items<block, arch::S8x4>(params, [](arch::S8x4 x) { return arch::low_pair_of<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_of_u8(const ProbeParams& params) {
  map_items<block, arch::U8x4>(params, [](arch::U8x4 x) { return arch::low_pair_of<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void tf32_of_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::to_tf32(x); });
}

template <Block block>
QUARRY_DEVICE void s8_of_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::to_s8(x); });
}

template <Block block>
QUARRY_DEVICE void u8_of_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::to_u8(x); });
}

/// out[i] = dot4(in[3 i], in[3 i + 1], in[3 i + 2]) of bytes that A and B say the types of.
template <Block block, class A, class B>
QUARRY_DEVICE void dot4_items(const ProbeParams& params) {
  for_each_item<block>(params, [&](int i) {
    const auto a = arch::global_load<A>(params.in + 3 * i);
    const auto b = arch::global_load<B>(params.in + 3 * i + 1);
    const auto sum = arch::global_load<int>(params.in + 3 * i + 2);
    arch::global_store(params.out + i, arch::dot4(a, b, sum));
  });
}

template <Block block>
QUARRY_DEVICE void dot4_s8_s8(const ProbeParams& params) {
  dot4_items<block, arch::S8x4, arch::S8x4>(params);
}

template <Block block>
QUARRY_DEVICE void dot4_s8_u8(const ProbeParams& params) {
  dot4_items<block, arch::S8x4, arch::U8x4>(params);
}

template <Block block>
QUARRY_DEVICE void dot4_u8_s8(const ProbeParams& params) {
  dot4_items<block, arch::U8x4, arch::S8x4>(params);
}

template <Block block>
QUARRY_DEVICE void dot4_u8_u8(const ProbeParams& params) {
  dot4_items<block, arch::U8x4, arch::U8x4>(params);
}

template <Block block>
QUARRY_DEVICE void fma_f32(const ProbeParams& params) {
  fma_items<block, float>(params);
}

template <Block block>
QUARRY_DEVICE void fma_f64(const ProbeParams& params) {
  fma_items<block, double>(params);
}

/// out[i] = f(in[3 i], in[3 i + 1], in[3 i + 2]).
template <Block block, class Function>
QUARRY_DEVICE void triple_items(const ProbeParams& params, Function f) {
  const auto* const in = reinterpret_cast<const float*>(params.in);
  auto* const out = reinterpret_cast<float*>(params.out);
  for_each_item<block>(params, [&](int i) {
    const auto number = [&](int j) { return arch::global_load<float>(in + 3 * i + j); };
    arch::global_store(out + i, f(number(0), number(1), number(2)));
  });
}

template <Block block>
QUARRY_DEVICE void pinned_fma(const ProbeParams& params) {
  triple_items<block>(params, [](float a, float b, float c) { return arch::pinned_fma(a, b, c); });
}

template <Block block>
QUARRY_DEVICE void fma_saturated(const ProbeParams& params) {
  triple_items<block>(params, [](float a, float b, float c) { return arch::fma_saturated(a, b, c); });
}

template <Block block>
QUARRY_DEVICE void minimum(const ProbeParams& params) {
  triple_items<block>(params, [](float a, float b, float) { return arch::minimum(a, b); });
}

template <Block block>
QUARRY_DEVICE void maximum(const ProbeParams& params) {
  triple_items<block>(params, [](float a, float b, float) { return arch::maximum(a, b); });
}

template <Block block>
QUARRY_DEVICE void opaque(const ProbeParams& params) {
  map_items<block, int>(params, [](int x) {
    const auto address = reinterpret_cast<const char*>(static_cast<long long>(arch::opaque(x)));
    return static_cast<int>(reinterpret_cast<long long>(arch::opaque(address)));
  });
}

template <Block block>
QUARRY_DEVICE void tanh_approximate(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::tanh_approximate(x); });
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

template <Block block>
QUARRY_DEVICE void log_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::log(x < 0 ? -x : x); });
}

template <Block block>
QUARRY_DEVICE void log_f64(const ProbeParams& params) {
  map_items<block, double>(params, [](double x) { return arch::log(x < 0 ? -x : x); });
}

template <Block block>
QUARRY_DEVICE void square_root_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::square_root(x < 0 ? -x : x); });
}

template <Block block>
QUARRY_DEVICE void square_root_f64(const ProbeParams& params) {
  map_items<block, double>(params, [](double x) { return arch::square_root(x < 0 ? -x : x); });
}

template <Block block>
QUARRY_DEVICE void erf_f32(const ProbeParams& params) {
  map_items<block, float>(params, [](float x) { return arch::erf(x); });
}

template <Block block>
QUARRY_DEVICE void erf_f64(const ProbeParams& params) {
  map_items<block, double>(params, [](double x) { return arch::erf(x); });
}

/// out[i] = in[i] as a whole number.
template <Block block, class T>
QUARRY_DEVICE void whole_items(const ProbeParams& params) {
  const auto* const in = reinterpret_cast<const T*>(params.in);
  auto* const out = reinterpret_cast<int*>(params.out);
  for_each_item<block>(
      params, [&](int i) { arch::global_store(out + i, arch::to_s32(arch::global_load<T>(in + i))); });
}

template <Block block>
QUARRY_DEVICE void s32_of_f32(const ProbeParams& params) {
  whole_items<block, float>(params);
}

template <Block block>
QUARRY_DEVICE void s32_of_f64(const ProbeParams& params) {
  whole_items<block, double>(params);
}

}  // namespace quarry::probes
