/// The metadata of a gemm_list_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_list_sm90/config.hpp"

namespace quarry::gemm_list_sm90 {

inline constexpr std::string_view family_name = "gemm_list_sm90";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operation = Operation::gemm_list;
  kernel.cc = 90;
  kernel.max_cc = 90;
  kernel.design.cluster = Cluster{c.cluster.m, c.cluster.n};
  kernel.design.schedule = c.schedule;
  kernel.design.copy_engine = CopyEngine::tma;
  kernel.design.instruction = {gemm_sm90::instruction_m, c.tile.n, gemm_sm90::instruction_k(c.types)};
  kernel.design.math_unit = MathUnit::tensor_core;
  return kernel;
}

}  // namespace quarry::gemm_list_sm90
