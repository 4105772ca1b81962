/// Plain constexpr C++, shared by host and device.
#pragma once

#include "common/config_parts.hpp"

namespace quarry {

/// Which extent of the matrices A and B runs along the channels of their tensors (conv2d/places.hpp).
constexpr Layouts convolution_layouts(Direction direction) {
  switch (direction) {
    case Direction::dgrad: return {Layout::row, Layout::row, Layout::row};
    case Direction::wgrad: return {Layout::column, Layout::row, Layout::row};
    default: return {Layout::row, Layout::column, Layout::row};
  }
}

}  // namespace quarry
