/// The metadata of a gemm_list_simt kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_list_simt/config.hpp"

namespace quarry::gemm_list_simt {

inline constexpr std::string_view family_name = "gemm_list_simt";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operation = Operation::gemm_list;
  kernel.design.math_unit = MathUnit::simt;
  return kernel;
}

}  // namespace quarry::gemm_list_simt
