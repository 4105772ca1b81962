/// A reorder as a step of a launch: by itself, or beside another kernel. Host only.
#pragma once

#include <cstdint>

#include "launch.hpp"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/params.hpp"

namespace quarry::reorder_matrix {

/// Appends the kernel of this number, which moves elements of a type. The pointers are left to be relocated.
/// @return its parameters in the image
inline ReorderParams& add_reorder(Launch& launch, std::uint8_t entry, DType type, ReorderParams reorder) {
  const Config config = {type};
  Step& step = add_kernel(launch, entry, sizeof(ReorderParams));
  step.grid = static_cast<unsigned>(grid(reorder.rows, reorder.columns, reorder.batch));
  step.blocks_walk = true;
  step.threads = static_cast<unsigned>(threads(config));
  step.shared_memory = static_cast<unsigned>(shared_memory_bytes(config));
  return params_of<ReorderParams>(launch, step) = reorder;
}

}  // namespace quarry::reorder_matrix
