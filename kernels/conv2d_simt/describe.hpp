/// The metadata of a conv2d_simt kernel. Host only.
#pragma once

#include <string_view>

#include "conv2d/describe.hpp"
#include "conv2d_simt/config.hpp"

namespace quarry::conv2d_simt {

inline constexpr std::string_view family_name = "conv2d_simt";

/// `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel = describe_conv2d(family_name, c.direction, product(c), name, c.layout);
  kernel.design.strides = WindowStrides::any;
  kernel.design.filter = WindowFilter::any;
  kernel.design.math_unit = MathUnit::simt;
  return kernel;
}

}  // namespace quarry::conv2d_simt
