/// Random controls of a campaign's problems.
#pragma once

#include <cstdint>
#include <string>

#include "lab/problems/dice.hpp"
#include "quarry/controls.hpp"

namespace quarry::lab {

/// Controls of every kind, of half of all problems. Some are of few kernels, or of none. @param k products of
/// an output
Controls draw_controls(std::int64_t k, Dice& dice);

/// ", mode split_k_serial, split-K 4, swizzle 2"
std::string described(const Controls& controls);

}  // namespace quarry::lab
