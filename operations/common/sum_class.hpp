/// The sum class of a kernel, from its metadata.
#pragma once

#include <optional>
#include <string_view>

#include "quarry/batch_invariant.hpp"

namespace quarry::detail {

inline constexpr std::string_view sum_class_words[] = {
    "exact", "fma", "mma_k4", "mma_k8", "mma_k16", "mma_k32", "wgmma_k8", "wgmma_k16", "wgmma_k32"};

/// The class of a matrix instruction with so many products; absent for one that is not known.
constexpr std::optional<SumClass> instruction_class(bool is_wgmma, int k) {
  switch (k) {
    case 4: return is_wgmma ? std::nullopt : std::optional(SumClass::mma_k4);
    case 8: return is_wgmma ? SumClass::wgmma_k8 : SumClass::mma_k8;
    case 16: return is_wgmma ? SumClass::wgmma_k16 : SumClass::mma_k16;
    case 32: return is_wgmma ? SumClass::wgmma_k32 : SumClass::mma_k32;
    default: return std::nullopt;
  }
}

/// The controls of a batch-invariant query: K in one piece.
inline Controls in_one_piece(Controls controls) {
  controls.mode = Mode::gemm;
  controls.split_k_slices = 1;
  return controls;
}

/// As quarry::sum_class.
constexpr std::optional<SumClass> sum_class_of(const KernelMetadata& kernel) {
  const DesignMetadata& design = kernel.design;
  if (!is_product(kernel.operation)) return std::nullopt;
  // It promotes sums that kernels without scales do not.
  if (takes_blocks(kernel.operands.scales)) return std::nullopt;
  if (kernel.operands.accumulator == DType::s32) return SumClass::exact;
  if (design.math_unit == MathUnit::simt) return SumClass::fma;
  if (!design.instruction || (design.warps && design.warps->k > 1)) return std::nullopt;
  // A warpgroup multiplies 64 rows; where the operands are exchanged, they are columns of the output.
  const bool is_wgmma = design.instruction->m == 64 || design.instruction->n == 64;
  return instruction_class(is_wgmma, design.instruction->k);
}

}  // namespace quarry::detail
