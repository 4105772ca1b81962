/// Random convolutions for tests: arguments with memory, and the definition as a sum over single products.
#pragma once

#include <array>
#include <vector>

#include "lab/problems/dice.hpp"
#include "lab/problems/operands.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "quarry/conv2d.hpp"

namespace quarry::test {

/// A problem with windows of any kind, of these types, packed. @param most products
inline Conv2dArguments random_convolution(Direction direction, DType in, DType out, double most,
                                          lab::Dice& dice) {
  lab::conv2d::Problem problem{
      .direction = direction, .a = {.dtype = in}, .b = {.dtype = in}, .out = {.dtype = out}};
  lab::conv2d::draw_windows(most, problem, dice);
  return lab::conv2d::Lab::arguments(problem);
}

/// Calls `visit(x, w, y)` with the places of each product of a convolution: the output at y adds x times w.
/// It walks the image, and asks which outputs an element is part of.
template <class Visit>
void each_product(const Conv2dArguments& args, const lab::conv2d::Extents& x, const lab::conv2d::Extents& w,
                  const lab::conv2d::Extents& y, const Visit& visit) {
  using Place = std::array<std::int64_t, 4>;
  const auto output_at = [](std::int64_t image, std::int64_t tap, std::int64_t padding, std::int64_t stride,
                            std::int64_t dilation, std::int64_t outputs) -> std::int64_t {
    const std::int64_t distance = image + padding - tap * dilation;
    if (distance < 0 || distance % stride != 0 || distance / stride >= outputs) return -1;
    return distance / stride;
  };
  const std::int64_t filters = w[0] / args.groups;
  for (std::int64_t n = 0; n < x[0]; ++n) {
    for (std::int64_t h = 0; h < x[1]; ++h) {
      for (std::int64_t column = 0; column < x[2]; ++column) {
        for (std::int64_t r = 0; r < w[1]; ++r) {
          const std::int64_t tap_r = args.flips ? w[1] - 1 - r : r;
          const std::int64_t p =
              output_at(h, tap_r, args.padding.height, args.stride.height, args.dilation.height, y[1]);
          if (p < 0) continue;
          for (std::int64_t s = 0; s < w[2]; ++s) {
            const std::int64_t tap_s = args.flips ? w[2] - 1 - s : s;
            const std::int64_t q =
                output_at(column, tap_s, args.padding.width, args.stride.width, args.dilation.width, y[2]);
            if (q < 0) continue;
            for (std::int64_t k = 0; k < w[0]; ++k) {
              for (std::int64_t c = 0; c < w[3]; ++c)
                visit(Place{n, h, column, k / filters * w[3] + c}, Place{k, r, s, c}, Place{n, p, q, k});
            }
          }
        }
      }
    }
  }
}

/// Index of an element of a packed tensor.
inline std::size_t packed_index(const lab::conv2d::Extents& e, const std::array<std::int64_t, 4>& at) {
  return static_cast<std::size_t>(((at[0] * e[1] + at[1]) * e[2] + at[2]) * e[3] + at[3]);
}

}  // namespace quarry::test
