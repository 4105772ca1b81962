/// The standard epilogue as metadata. Host only.
#pragma once

#include "common/config_parts.hpp"
#include "quarry/metadata.hpp"

namespace quarry {

/// What the epilogue of a kernel of these types takes: everything, but whole numbers are not scaled.
constexpr EpilogueMetadata standard_epilogue(const Types& types) {
  return {.activation = true,
          .bias = true,
          .scale = compute_type(types.accumulator, types.out) != DType::s32,
          .residual = true,
          .aux = true,
          .clamp = true};
}

}  // namespace quarry
