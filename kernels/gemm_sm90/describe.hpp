/// The metadata of a gemm_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_sm90/copied_first.hpp"

namespace quarry::gemm_sm90 {

inline constexpr std::string_view family_name = "gemm_sm90";

/// Shape of the matrix instruction, in the row's own orientation.
constexpr Extent3 instruction_shape(const Config& c) {
  if (multiplies_by_warps(entry(c))) return {8, 16, 16};
  if (c.orientation == Orientation::direct) return {instruction_m, c.tile.n, instruction_k(c.types)};
  return {c.tile.m, instruction_m, instruction_k(c.types)};
}

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  const Config code = code_of(c);
  KernelMetadata kernel = describe_gemm(family_name, c, code, name);
  kernel.cc = 90;
  kernel.max_cc = 90;
  kernel.design.cluster = Cluster{c.cluster.m, c.cluster.n};
  kernel.design.schedule = c.schedule;
  kernel.design.copy_engine = c.copy;
  kernel.design.orientation = c.orientation;
  kernel.design.instruction = instruction_shape(c);
  kernel.design.math = c.math;
  kernel.design.math_unit = MathUnit::tensor_core;
  // Tensor maps know of strides alone.
  kernel.modes = {
      .split_k_parallel = has_partials(c), .split_k_cluster = adds_up_in_cluster(code), .batched = true};
  kernel.design.reorders = reorders(c);
  if (reorders(c)) kernel.operands.a.alignment = kernel.operands.b.alignment = 1;
  return kernel;
}

/// Sets what is the same in kernels of another operation, whose blocks walk over tiles that are computed as a
/// gemm_sm90 kernel does, from operands that the bulk copy engine moves. @param c as gemm_sm90::Config
template <class Config>
constexpr void describe_walking(const Config& c, KernelMetadata& kernel) {
  kernel.cc = 90;
  kernel.max_cc = 90;
  kernel.design.cluster = Cluster{c.cluster.m, c.cluster.n};
  kernel.design.schedule = c.schedule;
  kernel.design.copy_engine = CopyEngine::tma;
  kernel.design.instruction = {instruction_m, c.tile.n, instruction_k(c.types)};
  kernel.design.math_unit = MathUnit::tensor_core;
}

}  // namespace quarry::gemm_sm90
