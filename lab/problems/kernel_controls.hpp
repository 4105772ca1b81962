/// Controls of random problems as far as a kernel has them.
#pragma once

#include <cstdint>

#include "quarry/controls.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab {

/// The controls, with a way of cutting K that is among `modes` in the place of one that is not, no more
/// slices than K tiles, and as many multiprocessors as a persistent kernel needs; none for others.
/// @param k_tiles 1 at least
Controls fitted_controls(Controls controls, const ModesMetadata& modes, const DesignMetadata& design,
                         std::int64_t k_tiles);

}  // namespace quarry::lab
