/// What a thread of a kernel can do with its warpgroup: the functions that
/// kernels/arch/emulated/warpgroup.hpp is made of. They are as the functions of device.hpp. All threads of a
/// warpgroup call each of them, in the same order.
#pragma once

#include <cstdint>

#include "emulator/site.hpp"

namespace quarry::emulator {

/// Types of operands and of sums of a matrix instruction.
enum class ProductInput : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8 };
enum class ProductSum : std::uint8_t { f32, f16, s32 };

/// Bytes of an element.
constexpr int bytes_of(ProductInput type) {
  return type == ProductInput::tf32 ? 4 : type == ProductInput::f16 || type == ProductInput::bf16 ? 2 : 1;
}

/// 64 x n sums of 32 bytes along K of A and B, each contiguous in shared memory along K, or if elements have
/// two bytes along M or N. Of two bytes, A may be in registers instead.
struct ProductShape {
  ProductInput a;
  ProductInput b;
  ProductSum sum;
  bool a_along_m;
  bool b_along_n;
  int n;  ///< 8 to 256, a multiple of 8
  bool a_in_registers = false;

  /// Elements along K.
  int k() const { return 32 / bytes_of(a); }
  /// Words of a thread's part of the sums.
  unsigned words() const { return static_cast<unsigned>(n) / (sum == ProductSum::f16 ? 4 : 2); }
  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

/// A word of a thread's sums, which are numbers of a kernel's own type.
using SumWord [[gnu::may_alias]] = std::uint32_t;

/// Starts a product of the operands that the matrix descriptors name. `sums` is this thread's part, which
/// belongs to the instruction until it is waited for, and may not be read before `warpgroup_hold`: until then
/// it holds poison.
void warpgroup_multiply(const ProductShape& shape, SumWord* sums, std::uint64_t a, std::uint64_t b,
                        bool accumulate, const Site& site);
/// The same of an A in registers: `a` is this thread's part, four words, which is taken over at once.
void warpgroup_multiply(const ProductShape& shape, SumWord* sums, const std::uint32_t* a, std::uint64_t b,
                        bool accumulate, const Site& site);
void warpgroup_fence(const Site& site);
void warpgroup_commit(const Site& site);
/// Waits until at most `pending` groups are under way.
void warpgroup_wait(unsigned pending, const Site& site);
/// What comes before this use of a thread's sums stays before it, and what comes after it after: a compiler
/// may move the rest across fences and waits.
void warpgroup_hold(SumWord* sums, unsigned words, const Site& site);

/// The warpgroup's threads have so many registers each from here on: no more than before, no fewer.
void give_registers(unsigned registers, const Site& site);
void take_registers(unsigned registers, const Site& site);

}  // namespace quarry::emulator
