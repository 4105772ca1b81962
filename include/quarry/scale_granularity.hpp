/// How finely the scales of operands are given.
#pragma once

#include <cstdint>
#include <string_view>

#include "quarry/status.hpp"

namespace quarry {

/// How many elements of A or B share a scale.
enum class ScaleGranularity : std::uint8_t {
  tensor,         ///< the whole matrix
  row,            ///< a row of A
  column,         ///< a column of B
  block_1x128,    ///< 128 positions of K in one row of A or one column of B
  block_128x128,  ///< 128 positions of K in 128 columns of B
  block_1x32,     ///< 32 positions of K in one row of A or one column of B
  block_1x64,     ///< 64 positions of K in one row of A or one column of B
};

/// "tensor", "row", "column", "1x128", "128x128", "1x32" or "1x64"; and back.
std::string_view to_string(ScaleGranularity granularity);
Result<ScaleGranularity> parse_scale_granularity(std::string_view word);

}  // namespace quarry
