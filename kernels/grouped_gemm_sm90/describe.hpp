/// The metadata of a grouped_gemm_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_sm90/describe.hpp"
#include "grouped_gemm_sm90/config.hpp"

namespace quarry::grouped_gemm_sm90 {

inline constexpr std::string_view family_name = "grouped_gemm_sm90";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operation = Operation::grouped_gemm;
  gemm_sm90::describe_walking(c, kernel);
  return kernel;
}

}  // namespace quarry::grouped_gemm_sm90
