/// The part of a kernel's metadata that all families of convolutions have alike. Host only.
#pragma once

#include <string_view>

#include "gemm/describe.hpp"

namespace quarry {

/// What the config of the product says by itself. All tensors have layout row: channels are contiguous.
/// @param name kept as a view, like `family`
template <class Product>
constexpr KernelMetadata describe_conv2d(std::string_view family, Direction direction, const Product& product,
                                         std::string_view name) {
  KernelMetadata kernel = describe_gemm(family, product, product, name);
  kernel.operation = Operation::conv2d;
  kernel.direction = direction;
  kernel.operands.a.layout = kernel.operands.b.layout = Layout::row;
  kernel.epilogue = {.activation = true, .bias = direction != Direction::wgrad, .clamp = true};
  return kernel;
}

}  // namespace quarry
