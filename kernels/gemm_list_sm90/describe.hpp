/// The metadata of a gemm_list_sm90 kernel. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"
#include "gemm_list_sm90/config.hpp"
#include "gemm_sm90/describe.hpp"

namespace quarry::gemm_list_sm90 {

inline constexpr std::string_view family_name = "gemm_list_sm90";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_gemm(family_name, c, c, name);
  kernel.operation = Operation::gemm_list;
  gemm_sm90::describe_walking(c, kernel);
  return kernel;
}

}  // namespace quarry::gemm_list_sm90
