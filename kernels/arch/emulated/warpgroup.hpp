/// The matrix multiply-add of a warpgroup; see arch/ptx/warpgroup.hpp.
#pragma once

#include "arch/emulated/entry.hpp"
#include "arch/types_sm90.hpp"
#include "emulator/warpgroup.hpp"

namespace quarry::arch {

QUARRY_DEVICE void warpgroup_fence(const emulator::Site& site = emulator::Site::current()) {
  emulator::warpgroup_fence(site);
}

QUARRY_DEVICE void warpgroup_commit(const emulator::Site& site = emulator::Site::current()) {
  emulator::warpgroup_commit(site);
}

template <int Pending>
QUARRY_DEVICE void warpgroup_wait(const emulator::Site& site = emulator::Site::current()) {
  static_assert(Pending >= 0 && Pending <= 7, "wgmma.wait_group takes 0 to 7");
  emulator::warpgroup_wait(Pending, site);
}

template <int N>
QUARRY_DEVICE void warpgroup_hold(WarpgroupSumsF32<N>& sums,
                                  const emulator::Site& site = emulator::Site::current()) {
  emulator::warpgroup_hold(reinterpret_cast<emulator::SumWord*>(sums.v), sums.registers, site);
}
template <int N>
QUARRY_DEVICE void warpgroup_hold(WarpgroupSumsS32<N>& sums,
                                  const emulator::Site& site = emulator::Site::current()) {
  emulator::warpgroup_hold(reinterpret_cast<emulator::SumWord*>(sums.v), sums.registers, site);
}
template <int N>
QUARRY_DEVICE void warpgroup_hold(WarpgroupSumsF16<N>& sums,
                                  const emulator::Site& site = emulator::Site::current()) {
  emulator::warpgroup_hold(reinterpret_cast<emulator::SumWord*>(sums.v), sums.registers, site);
}

template <int Registers>
QUARRY_DEVICE void give_registers(const emulator::Site& site = emulator::Site::current()) {
  emulator::give_registers(Registers, site);
}

template <int Registers>
QUARRY_DEVICE void take_registers(const emulator::Site& site = emulator::Site::current()) {
  emulator::take_registers(Registers, site);
}

/// What the emulator calls the types of operands and of sums.
template <class Input>
inline constexpr auto product_input = emulator::ProductInput::f16;
template <>
inline constexpr auto product_input<BF16> = emulator::ProductInput::bf16;

template <class Sums>
struct ProductSumsOf;
template <int N>
struct ProductSumsOf<WarpgroupSumsF32<N>> {
  static constexpr auto type = emulator::ProductSum::f32;
  static constexpr int n = N;
};
template <int N>
struct ProductSumsOf<WarpgroupSumsF16<N>> {
  static constexpr auto type = emulator::ProductSum::f16;
  static constexpr int n = N;
};
template <int N>
struct ProductSumsOf<WarpgroupSumsS32<N>> {
  static constexpr auto type = emulator::ProductSum::s32;
  static constexpr int n = N;
};

template <class Input, Major a_major, Major b_major, class Sums>
QUARRY_DEVICE void warpgroup_multiply(Sums& sums, MatrixDescriptor a, MatrixDescriptor b, int accumulate,
                                      const emulator::Site& site = emulator::Site::current()) {
  using Product = ProductSumsOf<Sums>;
  static_assert(Product::n >= 8 && Product::n <= 256 && Product::n % 8 == 0,
                "wgmma has 8 to 256 columns, in eights");
  constexpr emulator::ProductShape shape = {product_input<Input>, product_input<Input>, Product::type,
                                            a_major == Major::mn, b_major == Major::mn, Product::n};
  auto* const words = reinterpret_cast<emulator::SumWord*>(sums.v);
  emulator::warpgroup_multiply(shape, words, a, b, accumulate != 0, site);
}

}  // namespace quarry::arch
