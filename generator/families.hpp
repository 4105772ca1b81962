/// The families that this generator was built for.
#pragma once

#include <span>

#include "config_text.hpp"

namespace quarry::generator {

/// In the order in which the build names them. Defined by a source that the build writes from its list of
/// families.
std::span<const ConfigSpace* const> families();

}  // namespace quarry::generator
