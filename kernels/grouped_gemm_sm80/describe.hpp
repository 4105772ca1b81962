/// The metadata of a grouped_gemm_sm80 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "grouped_gemm_sm80/config.hpp"

namespace quarry::grouped_gemm_sm80 {

inline constexpr std::string_view family_name = "grouped_gemm_sm80";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  const Tile instruction = gemm_sm80::instruction_shape(tile_config(c));
  kernel.operation = Operation::grouped_gemm;
  kernel.design.warps = Extent3{c.warps.m, c.warps.n, c.warps.k};
  kernel.design.instruction = Extent3{instruction.m, instruction.n, instruction.k};
  kernel.design.math_unit = MathUnit::tensor_core;
  return kernel;
}

}  // namespace quarry::grouped_gemm_sm80
