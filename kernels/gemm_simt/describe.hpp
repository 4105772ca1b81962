/// The metadata of a gemm_simt kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_simt/config.hpp"

namespace quarry::gemm_simt {

inline constexpr std::string_view family_name = "gemm_simt";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  const Alignment aligned = alignment(c);
  kernel.operands.a.alignment = aligned.a;
  kernel.operands.b.alignment = aligned.b;
  kernel.design.math_unit = MathUnit::simt;
  kernel.modes = {
      .split_k_serial = true, .split_k_parallel = has_partials(c), .batched = true, .array = true};
  return kernel;
}

}  // namespace quarry::gemm_simt
