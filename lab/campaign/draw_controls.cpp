#include "lab/campaign/draw_controls.hpp"

#include <algorithm>

#include "quarry/tensor.hpp"

namespace quarry::lab {
namespace {

/// Slices that most kernels can cut K into, or by chance too many.
int random_slices(std::int64_t k, Dice& dice) {
  const std::int64_t most = dice.one_in(4) ? 12 : std::clamp<std::int64_t>(k / 32, 1, 12);
  return static_cast<int>(dice.between(1, most));
}

}  // namespace

Controls draw_controls(std::int64_t k, Dice& dice) {
  Controls controls;
  if (dice.one_in(2)) return controls;
  if (dice.one_in(2)) controls.mode = static_cast<Mode>(dice.between(0, static_cast<int>(Mode::stream_k)));
  const bool keeps_tiles = controls.mode == Mode::gemm || controls.mode == Mode::stream_k;
  if (dice.one_in(2)) controls.split_k_slices = keeps_tiles ? 1 : random_slices(k, dice);
  if (dice.one_in(3)) controls.swizzle = dice.one_in(32) ? 3 : 1 << dice.between(0, 3);
  if (dice.one_in(3)) controls.raster = dice.one_in(2) ? Raster::along_n : Raster::along_m;
  if (dice.one_in(10)) controls.multiprocessors = static_cast<int>(dice.between(1, 160));
  return controls;
}

std::string described(const Controls& controls) {
  std::string text;
  if (controls.mode) text += ", mode " + std::string(to_string(*controls.mode));
  if (controls.split_k_slices) text += ", split-K " + std::to_string(*controls.split_k_slices);
  if (controls.swizzle) text += ", swizzle " + std::to_string(*controls.swizzle);
  if (controls.raster) text += ", raster " + std::string(to_string(*controls.raster));
  if (controls.multiprocessors) text += ", multiprocessors " + std::to_string(*controls.multiprocessors);
  return text;
}

}  // namespace quarry::lab
