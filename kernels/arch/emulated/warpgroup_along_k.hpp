/// Matrix multiply-add of a warpgroup on operands contiguous along K; see arch/ptx/warpgroup_along_k.hpp.
#pragma once

#include "arch/emulated/warpgroup.hpp"

namespace quarry::arch {

template <>
inline constexpr auto product_input<TF32> = emulator::ProductInput::tf32;
template <>
inline constexpr auto product_input<E4M3> = emulator::ProductInput::e4m3;
template <>
inline constexpr auto product_input<E5M2> = emulator::ProductInput::e5m2;
template <>
inline constexpr auto product_input<signed char> = emulator::ProductInput::s8;
template <>
inline constexpr auto product_input<unsigned char> = emulator::ProductInput::u8;

template <class InputA, class InputB, class Sums>
QUARRY_DEVICE void warpgroup_multiply_along_k(Sums& sums, MatrixDescriptor a, MatrixDescriptor b,
                                              int accumulate,
                                              const emulator::Site& site = emulator::Site::current()) {
  using Product = ProductSumsOf<Sums>;
  static_assert(Product::n >= 8 && Product::n <= 256 && Product::n % 8 == 0,
                "wgmma has 8 to 256 columns, in eights");
  static_assert(Product::type != emulator::ProductSum::s32 || Product::n <= 32 || Product::n % 16 == 0,
                "wgmma of bytes has 40 and more columns in sixteens");
  constexpr emulator::ProductShape shape = {
      product_input<InputA>, product_input<InputB>, Product::type, false, false, Product::n};
  auto* const words = reinterpret_cast<emulator::SumWord*>(sums.v);
  emulator::warpgroup_multiply(shape, words, a, b, accumulate != 0, site);
}

}  // namespace quarry::arch
