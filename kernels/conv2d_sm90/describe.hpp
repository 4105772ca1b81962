/// The metadata of a conv2d_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "conv2d/describe.hpp"
#include "conv2d_sm90/config.hpp"
#include "gemm_sm90/describe.hpp"

namespace quarry::conv2d_sm90 {

inline constexpr std::string_view family_name = "conv2d_sm90";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  const gemm_sm90::Config code = product(c);
  KernelMetadata kernel = describe_conv2d(family_name, c.direction, code, name, c.layout);
  kernel.cc = 90;
  kernel.max_cc = 90;
  kernel.design.cluster = Cluster{c.cluster.m, c.cluster.n};
  kernel.design.schedule = c.schedule;
  kernel.design.copy_engine = code.copy;
  kernel.design.strides = c.direction == Direction::dgrad ? c.strides : WindowStrides::strided;
  kernel.design.filter = WindowFilter::any;
  kernel.design.instruction = gemm_sm90::instruction_shape(code);
  kernel.design.math_unit = MathUnit::tensor_core;
  kernel.modes = {.split_k_parallel = !is_phased(c), .split_k_cluster = gemm_sm90::adds_up_in_cluster(code)};
  if (!is_interleaved(c.layout)) return kernel;
  kernel.design.reorders = true;
  kernel.operands.a.alignment = kernel.operands.b.alignment = 1;
  kernel.modes = {};
  kernel.epilogue.residual = kernel.epilogue.aux = false;  // of the epilogue's tensors, C alone is copied
  return kernel;
}

}  // namespace quarry::conv2d_sm90
