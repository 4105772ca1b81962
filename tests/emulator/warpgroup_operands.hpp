/// Operands of a warpgroup's matrix instruction, for kernels of tests: written to shared memory element by
/// element.
#pragma once

#include "arch/sm90.hpp"
#include "tests/kernels/arch/operand_tile.hpp"

namespace quarry::test {

/// Small integers, so that all sums are exact.
constexpr int element_a(int row, int k) { return (row * 7 + k * 5 + row / 8) % 9 - 4; }
constexpr int element_b(int k, int column) { return (column * 3 + k * 2 + column / 16) % 7 - 3; }

/// Sum of the products of a row and a column over some of K.
constexpr int product(int row, int column, int k_begin, int k_end) {
  int sum = 0;
  for (int k = k_begin; k < k_end; ++k) sum += element_a(row, k) * element_b(k, column);
  return sum;
}

template <class Input>
Input number(int x);
template <>
inline arch::F16 number<arch::F16>(int x) {
  return arch::to_f16(static_cast<float>(x));
}
template <>
inline arch::BF16 number<arch::BF16>(int x) {
  return arch::to_bf16(static_cast<float>(x));
}

/// All threads of a block write a tile, each its elements.
template <class Input, class Element>
void store_tile(const OperandTile& tile, arch::SharedAddress at, int threads, Element element) {
  for (int i = arch::thread_index(); i < tile.extent * tile_k; i += threads) {
    arch::shared_store(at + tile.offset(i / tile_k, i % tile_k),
                       number<Input>(element(i / tile_k, i % tile_k)));
  }
}

/// The row and column of a thread's i-th sum, by its thread in the warpgroup.
constexpr int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8; }
constexpr int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

/// The i-th of a thread's sums.
template <int n>
float sum_of(const arch::WarpgroupSumsF32<n>& sums, int i) {
  return sums.v[i];
}
template <int n>
float sum_of(const arch::WarpgroupSumsF16<n>& sums, int i) {
  return arch::to_f32(arch::F16{static_cast<unsigned short>(sums.v[i / 2] >> 16 * (i % 2))});
}

}  // namespace quarry::test
