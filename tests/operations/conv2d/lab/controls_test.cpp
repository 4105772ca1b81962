/// Slices that kernels of convolutions can cut.
#include "operations/conv2d/lab/controls.hpp"
#include "operations/conv2d/lab/operation.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

TEST_CASE("conv2d: a gradient in phases has the K of the longest phase that has pixels", "[conv2d][lab]") {
  const Result<Kernel> kernel =
      find_kernel("conv2d_sm80_dgrad_bf16_bf16_f32_bf16_64x64x32_w2x2x1_s4_analytic_strided_a4x4");
  REQUIRE(kernel);
  lab::conv2d::Problem p{.direction = Direction::dgrad,
                         .n = 1,
                         .h = 3,
                         .w = 8,
                         .c = 40,
                         .k = 76,
                         .r = 1,
                         .s = 4,
                         .padding = {1, 5},
                         .stride = {4, 1},
                         .a = {.dtype = DType::bf16},
                         .b = {.dtype = DType::bf16},
                         .out = {.dtype = DType::bf16}};
  const auto k_tiles = [&] {
    return lab::conv2d::least_k_tiles(kernel->metadata(), lab::conv2d::Lab::arguments(p));
  };
  // The only row of taps belongs to positions 3, 7, ..., of which the image has none.
  CHECK(k_tiles() == 1);
  p.h = 4;
  CHECK(k_tiles() == (76 * 4 + 31) / 32);
  // Two phases of columns share the taps.
  p.stride = {4, 2};
  CHECK(k_tiles() == (76 * 2 + 31) / 32);
  p.epilogue.alpha = 0;
  CHECK(k_tiles() == 1);
}
