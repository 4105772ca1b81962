/// The metadata of an elementwise kernel. Host only.
#pragma once

#include <string_view>

#include "elementwise/config.hpp"
#include "quarry/metadata.hpp"

namespace quarry::elementwise {

inline constexpr std::string_view family_name = "elementwise";

/// Tensors have any types: the types of the expression that is compiled in. Each needs the alignment of `out`
/// in its own elements, 16 bytes at most. `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = family_name;
  kernel.operation = Operation::elementwise;
  kernel.cc = 80;
  kernel.operands.out.alignment = c.elements;
  kernel.design.threads = threads(c);
  return kernel;
}

}  // namespace quarry::elementwise
