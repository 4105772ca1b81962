/// The type that `sum` has in the expression of a GEMM.
#include "quarry/sums.hpp"

#include "quarry/gemm.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

TEST_CASE("Sums have the type of their accumulator, and f32 beside scales of blocks", "[gemm]") {
  CHECK(sum_type(DType::bf16, DType::bf16) == DType::f32);
  CHECK(sum_type(DType::f64, DType::f64) == DType::f64);
  CHECK(sum_type(DType::s8, DType::u8) == DType::s32);

  GemmArguments args;
  args.a = TensorView::row_major(nullptr, DType::s8, {4, 256});
  args.b = TensorView::column_major(nullptr, DType::s8, {256, 8});
  CHECK(sum_type(args) == DType::s32);
  args.a_scale = TensorView::row_major(nullptr, DType::f32, {4, 1});
  args.a_scale_granularity = ScaleGranularity::row;
  CHECK(sum_type(args) == DType::s32);
  args.b_scale = TensorView::row_major(nullptr, DType::f32, {2, 1});
  args.b_scale_granularity = ScaleGranularity::block_128x128;
  CHECK(sum_type(args) == DType::f32);
  args.accumulator = DType::f64;
  CHECK(sum_type(args) == DType::f64);
}

}  // namespace
}  // namespace quarry
