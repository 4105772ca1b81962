/// The metadata of a grouped_gemm_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "grouped_gemm_sm90/config.hpp"

namespace quarry::grouped_gemm_sm90 {

inline constexpr std::string_view family_name = "grouped_gemm_sm90";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operation = Operation::grouped_gemm;
  kernel.cc = 90;
  kernel.max_cc = 90;
  kernel.design.cluster = Cluster{c.cluster.m, c.cluster.n};
  kernel.design.schedule = c.schedule;
  kernel.design.copy_engine = CopyEngine::tma;
  kernel.design.instruction = {gemm_sm90::instruction_m, c.tile.n, gemm_sm90::instruction_k(c.types)};
  kernel.design.math_unit = MathUnit::tensor_core;
  return kernel;
}

}  // namespace quarry::grouped_gemm_sm90
