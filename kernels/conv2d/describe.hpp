/// The part of a kernel's metadata that all families of convolutions have alike. Host only.
#pragma once

#include <string>
#include <string_view>

#include "gemm/describe.hpp"

namespace quarry {

/// The setting `layout` of kernels: where the channels of all tensors lie.
inline constexpr std::string_view channel_layout_words[] = {"nhwc", "nc32hw32"};

/// Why a kernel cannot have its layout, "" where it can.
inline std::string channel_layout_fault(Direction direction, const Types& types, Layout layout) {
  if (!is_interleaved(layout)) return "";
  const bool has_bytes = is_byte(types.a) && is_byte(types.b) && takes_integer_sums(types.out);
  return direction == Direction::fprop && has_bytes ? ""
                                                    : "nc32hw32 can be chosen only for fprop of s8 and u8";
}

/// What the config of the product says by itself. @param layout of all tensors: row, where channels are
/// contiguous, or column_interleaved32
/// @param name kept as a view, like `family`
template <class Product>
constexpr KernelMetadata describe_conv2d(std::string_view family, Direction direction, const Product& product,
                                         std::string_view name, Layout layout = Layout::row) {
  KernelMetadata kernel = describe_gemm(family, product, product, name);
  kernel.operation = Operation::conv2d;
  kernel.direction = direction;
  OperandsMetadata& o = kernel.operands;
  o.a.layout = o.b.layout = o.c.layout = o.out.layout = layout;
  // Filters have no channels of an image, which vectors are along.
  if (direction == Direction::wgrad) kernel.epilogue.bias = kernel.epilogue.scale = false;
  return kernel;
}

}  // namespace quarry
