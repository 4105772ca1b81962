/// The metadata of a grouped_gemm_simt kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "grouped_gemm_simt/config.hpp"

namespace quarry::grouped_gemm_simt {

inline constexpr std::string_view family_name = "grouped_gemm_simt";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operation = Operation::grouped_gemm;
  kernel.design.math_unit = MathUnit::simt;
  return kernel;
}

}  // namespace quarry::grouped_gemm_simt
