/// The metadata of a conv2d_sm80 kernel. Host only.
#pragma once

#include <string_view>

#include "conv2d/describe.hpp"
#include "conv2d_sm80/config.hpp"

namespace quarry::conv2d_sm80 {

inline constexpr std::string_view family_name = "conv2d_sm80";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  const gemm_sm80::Config code = product(c);
  KernelMetadata kernel = describe_conv2d(family_name, c.direction, code, name, c.layout);
  kernel.design.stages = c.stages;
  kernel.design.shared_memory = shared_memory_bytes(c);
  const Tile instruction = instruction_shape(code);
  kernel.design.warps = Extent3{c.warps.m, c.warps.n, c.warps.k};
  kernel.design.instruction = Extent3{instruction.m, instruction.n, instruction.k};
  kernel.design.math = c.math;
  kernel.design.math_unit = MathUnit::tensor_core;
  kernel.design.iterator = c.iterator;
  kernel.design.strides = c.strides;
  kernel.design.filter = c.filter;
  kernel.modes = {.split_k_serial = c.iterator != Iterator::window || brings_gradients(c),
                  .split_k_parallel = brings_gradients(c)};
  // Phases move C and the output to where they begin, and no other tensors (conv2d/phase.cuh).
  if (c.strides == WindowStrides::strided) kernel.epilogue.residual = kernel.epilogue.aux = false;
  return kernel;
}

}  // namespace quarry::conv2d_sm80
