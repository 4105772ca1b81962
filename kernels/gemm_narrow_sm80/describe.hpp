/// The metadata of a gemm_narrow_sm80 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_narrow_sm80/config.hpp"

namespace quarry::gemm_narrow_sm80 {

inline constexpr std::string_view family_name = "gemm_narrow_sm80";

/// Elements that lines must be multiples of: 16 bytes.
constexpr Alignment alignment(const Config& c) { return {8, 128 / weight_bits(c)}; }

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operands.a.alignment = alignment(c).a;
  kernel.operands.b.alignment = alignment(c).b;
  kernel.design.warps = Extent3{c.warps.m, c.warps.n, c.warps.k};
  kernel.design.instruction = Extent3{16, 8, 16};
  kernel.design.math_unit = MathUnit::tensor_core;
  if (loads_directly(c)) kernel.cc = 90, kernel.max_cc = 90;  // it waits for earlier kernels itself
  kernel.modes = {.split_k_serial = true, .split_k_parallel = true, .batched = true, .array = true};
  return kernel;
}

}  // namespace quarry::gemm_narrow_sm80
