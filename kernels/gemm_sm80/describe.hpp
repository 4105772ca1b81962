/// The metadata of a gemm_sm80 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_sm80/config.hpp"

namespace quarry::gemm_sm80 {

inline constexpr std::string_view family_name = "gemm_sm80";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  if (has_long_f64(c)) kernel.cc = 90, kernel.max_cc = 90;
  const Tile instruction = instruction_shape(c);
  kernel.design.warps = Extent3{c.warps.m, c.warps.n, c.warps.k};
  kernel.design.instruction = Extent3{instruction.m, instruction.n, instruction.k};
  kernel.design.math = c.math;
  kernel.design.math_unit = MathUnit::tensor_core;
  kernel.epilogue.fast_clamp = c.epilogue == EpilogueKind::fast_clamp;
  if (c.schedule == Schedule::stream_k) {
    kernel.design.schedule = c.schedule;
    kernel.modes = {.stream_k = true, .batched = true};
  } else {
    kernel.modes = {.split_k_serial = true, .split_k_parallel = has_partials(c), .batched = true};
  }
  kernel.modes.array = true;
  return kernel;
}

}  // namespace quarry::gemm_sm80
