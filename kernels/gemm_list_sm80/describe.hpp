/// The metadata of a gemm_list_sm80 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_list_sm80/config.hpp"

namespace quarry::gemm_list_sm80 {

inline constexpr std::string_view family_name = "gemm_list_sm80";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  const Tile instruction = gemm_sm80::instruction_shape(tile_config(c));
  kernel.operation = Operation::gemm_list;
  kernel.design.warps = Extent3{c.warps.m, c.warps.n, c.warps.k};
  kernel.design.instruction = Extent3{instruction.m, instruction.n, instruction.k};
  kernel.design.math_unit = MathUnit::tensor_core;
  return kernel;
}

}  // namespace quarry::gemm_list_sm80
