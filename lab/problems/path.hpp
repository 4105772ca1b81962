/// The ways that results take out of kernels, by name.
#pragma once

#include <string_view>

#include "quarry/metadata.hpp"

namespace quarry::lab {

/// A way that results take out of some kernels, with code of its own: a mistake that stands there alone shows
/// in problems of this path, and in others by chance. Each operation lists its paths, and draws a problem of
/// each (OperationLab::random).
struct Path {
  std::string_view name;  ///< "bias_row"
  bool (*is_of)(const KernelMetadata& kernel);
};

}  // namespace quarry::lab
