/// The paths of convolutions, and a problem of each.
#pragma once

#include <cstdint>

#include "lab/problems/dice.hpp"
#include "operations/conv2d/lab/operation.hpp"

namespace quarry::lab::conv2d {

/// How many paths there are: Lab::paths().
std::int64_t path_count();

/// Makes a problem, of which types alone are known, one of this path, whatever the kernel: it has still to be
/// fitted to one. @param path below path_count()
void draw_path(std::int64_t path, Problem& problem, Dice& dice);

}  // namespace quarry::lab::conv2d
