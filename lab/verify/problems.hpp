/// The random problems that verify makes: sizes and epilogues that serve many kernels, and how each kernel
/// meets them.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// What the right result of a problem depends on, of a kernel. Kernels that agree share problems and
/// references: a value of a random operand does not depend on how the operand is stored.
struct ResultKey {
  DType a, b, accumulator, out;
  Math math;
  bool activation, bias, fast_clamp;
  Operation operation;
  /// Extents that are multiples of 32, as those of interleaved operands are.
  bool whole_m, whole_n, whole_k;
  friend auto operator<=>(const ResultKey&, const ResultKey&) = default;
};
ResultKey result_key(const KernelMetadata& kernel);

/// How the operands of a kernel's problems are stored. Kernels that agree share operands.
struct StorageKey {
  Layout a, b, c, out;
  int a_alignment, b_alignment, c_alignment, out_alignment;
  /// Batches may be arrays of pointers.
  bool arrays;
  friend auto operator<=>(const StorageKey&, const StorageKey&) = default;
};
StorageKey storage_key(const KernelMetadata& kernel);

/// Problem number `number` of these kernels: sizes, epilogue, and wishes for controls. The numbers take turns
/// between several ragged tiles, sizes around and below one tile down to 0 and 1, and long sums in slices,
/// with batches. All the rest is random; the seed is that of the operands too.
Problem random_problem(const ResultKey& key, std::uint64_t seed, std::int64_t number);

/// The problem stored so that pointers and leading dimensions are multiples of what the kernels need, and no
/// more; the leading dimensions have random padding, and some operands of batches are arrays of pointers
/// where kernels permit it.
Problem stored(const Problem& problem, const StorageKey& key, std::uint64_t seed);

/// The problem's controls as far as the kernel has them: its modes, and no more slices than it has K tiles.
Controls controls_for(const KernelMetadata& kernel, const Problem& problem);

}  // namespace quarry::lab
