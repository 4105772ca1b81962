/// Probes of arch/.../weights.hpp. Words of unsigned numbers have their zero point in the third byte.
#pragma once

#include "arch/weights.hpp"
#include "tests/kernels/arch/probes/items.cuh"

namespace quarry::probes {

QUARRY_DEVICE unsigned zero_in(unsigned word) { return word >> 16 & 0xffu; }

/// With its zero point, and with none.
template <class T>
QUARRY_DEVICE arch::Vector<unsigned, 2> weights_of_u8(arch::U8x4 x) {
  return {arch::byte_pair<T>(x, arch::pair_zero<T>(zero_in(x.bits))),
          arch::byte_pair<T>(x, arch::no_pair_zero<T>)};
}
template <class T>
QUARRY_DEVICE unsigned weights_of_s8(arch::S8x4 x) {
  return arch::byte_pair<T>(x);
}

template <class T>
QUARRY_DEVICE unsigned weights_of_e4m3(arch::E4M3x4 x) {
  return arch::byte_pair<T>(x);
}

/// Without a zero point, and with one.
template <class T>
QUARRY_DEVICE arch::Vector<unsigned, 4> weights_of_u4(arch::U4x8 x) {
  const arch::ZeroPoint zero = arch::pair_zero<T>(zero_in(x.bits));
  return {arch::half_byte_pair<T>(x, 0, arch::no_pair_zero<T>), arch::half_byte_pair<T>(x, 1, zero),
          arch::half_byte_pair<T>(x, 2, arch::no_pair_zero<T>), arch::half_byte_pair<T>(x, 3, zero)};
}
template <class T>
QUARRY_DEVICE arch::Vector<unsigned, 4> weights_of_s4(arch::S4x8 x) {
  return {arch::half_byte_pair<T>(x, 0), arch::half_byte_pair<T>(x, 1), arch::half_byte_pair<T>(x, 2),
          arch::half_byte_pair<T>(x, 3)};
}

/// Two bytes of a word as if its bytes in another order were the lower row's.
template <class T>
QUARRY_DEVICE arch::Vector<unsigned, 4> rows_of_s4(arch::S4x8 x) {
  const arch::S4x8 other{x.bits << 16 | x.bits >> 16};
  const arch::Vector<unsigned, 2> first =
      arch::half_byte_rows<T>(x, other, arch::half_byte_lane<T>(x.bits & 1, 0));
  const arch::Vector<unsigned, 2> second =
      arch::half_byte_rows<T>(x, other, arch::half_byte_lane<T>(2 + (x.bits >> 1 & 1), 0));
  return {first.v[0], first.v[1], second.v[0], second.v[1]};
}
template <class T>
QUARRY_DEVICE arch::Vector<unsigned, 4> rows_of_u4(arch::U4x8 x) {
  const arch::U4x8 other{x.bits << 16 | x.bits >> 16};
  const arch::ZeroPoint none = arch::no_row_zero<T>;
  const arch::Vector<unsigned, 2> first = arch::half_byte_rows<T>(
      x, other, arch::half_byte_lane<T>(x.bits & 1, 0), none, arch::row_zero<T>(zero_in(x.bits)));
  const arch::Vector<unsigned, 2> second = arch::half_byte_rows<T>(
      x, other, arch::half_byte_lane<T>(2 + (x.bits >> 1 & 1), 0), arch::row_zero<T>(x.bits & 0xffu), none);
  return {first.v[0], first.v[1], second.v[0], second.v[1]};
}

template <Block block>
QUARRY_DEVICE void f16_weights_of_e4m3(const ProbeParams& params) {
  map_items<block, arch::E4M3x4>(params, [](arch::E4M3x4 x) { return weights_of_e4m3<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_weights_of_e4m3(const ProbeParams& params) {
  map_items<block, arch::E4M3x4>(params, [](arch::E4M3x4 x) { return weights_of_e4m3<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_weights_of_s8(const ProbeParams& params) {
  map_items<block, arch::S8x4>(params, [](arch::S8x4 x) { return weights_of_s8<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_weights_of_u8(const ProbeParams& params) {
  map_items<block, arch::U8x4>(params, [](arch::U8x4 x) { return weights_of_u8<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_weights_of_s4(const ProbeParams& params) {
  map_items<block, arch::S4x8>(params, [](arch::S4x8 x) { return weights_of_s4<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_weights_of_u4(const ProbeParams& params) {
  map_items<block, arch::U4x8>(params, [](arch::U4x8 x) { return weights_of_u4<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_rows_of_s4(const ProbeParams& params) {
  map_items<block, arch::S4x8>(params, [](arch::S4x8 x) { return rows_of_s4<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void f16_rows_of_u4(const ProbeParams& params) {
  map_items<block, arch::U4x8>(params, [](arch::U4x8 x) { return rows_of_u4<arch::F16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_weights_of_s8(const ProbeParams& params) {
  map_items<block, arch::S8x4>(params, [](arch::S8x4 x) { return weights_of_s8<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_weights_of_u8(const ProbeParams& params) {
  map_items<block, arch::U8x4>(params, [](arch::U8x4 x) { return weights_of_u8<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_weights_of_s4(const ProbeParams& params) {
  map_items<block, arch::S4x8>(params, [](arch::S4x8 x) { return weights_of_s4<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_weights_of_u4(const ProbeParams& params) {
  map_items<block, arch::U4x8>(params, [](arch::U4x8 x) { return weights_of_u4<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_rows_of_s4(const ProbeParams& params) {
  map_items<block, arch::S4x8>(params, [](arch::S4x8 x) { return rows_of_s4<arch::BF16>(x); });
}

template <Block block>
QUARRY_DEVICE void bf16_rows_of_u4(const ProbeParams& params) {
  map_items<block, arch::U4x8>(params, [](arch::U4x8 x) { return rows_of_u4<arch::BF16>(x); });
}

}  // namespace quarry::probes
