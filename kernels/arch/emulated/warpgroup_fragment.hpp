/// Matrix multiply-add of a warpgroup with a left operand in registers; see arch/ptx/warpgroup_fragment.hpp.
#pragma once

#include "arch/emulated/warpgroup.hpp"

namespace quarry::arch {

template <class Input, class Sums>
QUARRY_DEVICE void warpgroup_multiply_fragment(Sums& sums, const MatrixFragment& a, MatrixDescriptor b,
                                               int accumulate,
                                               const emulator::Site& site = emulator::Site::current()) {
  using Product = ProductSumsOf<Sums>;
  static_assert(Product::n == 8 || Product::n == 16 || Product::n == 32 || Product::n == 64 ||
                    Product::n == 96 || Product::n == 128 || Product::n == 256,
                "arch/ptx/warpgroup_fragment.hpp has other columns");
  constexpr emulator::ProductShape shape = {.a = product_input<Input>,
                                            .b = product_input<Input>,
                                            .sum = Product::type,
                                            .a_along_m = false,
                                            .b_along_n = false,
                                            .n = Product::n,
                                            .a_in_registers = true};
  auto* const words = reinterpret_cast<emulator::SumWord*>(sums.v);
  emulator::warpgroup_multiply(shape, words, a.v, b, accumulate != 0, site);
}

}  // namespace quarry::arch
