/// Controls that a kernel is timed with beside its own.
#pragma once

#include <vector>

#include "quarry/controls.hpp"

namespace quarry::lab {

/// Controls near those chosen for a kernel: a few slices of K more or less where it is cut, else all other
/// orders of tiles. What the problem fixes stays. Not every kernel takes all of them.
std::vector<Controls> other_controls(const Controls& chosen, const Controls& fixed);

}  // namespace quarry::lab
