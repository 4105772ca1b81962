/// The metadata of a reorder_matrix kernel. Host only.
#pragma once

#include <string>
#include <string_view>

#include "quarry/metadata.hpp"
#include "reorder_matrix/config.hpp"

namespace quarry::reorder_matrix {

inline constexpr std::string_view family_name = "reorder_matrix";

/// The name of the entry that moves elements of a type: "reorder_matrix_s8". Defined beside the space.
/// @pre they are whole bytes
std::string name_of(DType type);

/// Its output is `to`; `from` has the same type, and both have any layout. `name` is kept as a view.
constexpr KernelMetadata describe(const Config& c, std::string_view name) {
  KernelMetadata kernel;
  kernel.name = name;
  kernel.family = family_name;
  kernel.operation = Operation::reorder;
  kernel.cc = 80;
  kernel.operands.out.dtype = c.type;
  kernel.design.threads = threads(c);
  kernel.design.shared_memory = shared_memory_bytes(c);
  return kernel;
}

}  // namespace quarry::reorder_matrix
