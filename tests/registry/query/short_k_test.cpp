// First choices for products with short K, as times on an H200 have them
// (registry/device/h200_random_3_times.jsonl.xz).
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;

struct Shape {
  std::int64_t batch, m, n, k;
};

/// A by rows, B by columns or by rows.
GemmArguments problem(const Shape& s, DType type, DType out, Layout b) {
  const auto column_b = TensorView::column_major(nullptr, type, {s.batch, s.k, s.n});
  return {.a = TensorView::row_major(nullptr, type, {s.batch, s.m, s.k}),
          .b = b == Layout::row ? TensorView::row_major(nullptr, type, {s.batch, s.k, s.n}) : column_b,
          .out = TensorView::row_major(nullptr, out, {s.batch, s.m, s.n})};
}

std::string first_choice(const GemmArguments& args) {
  FindOptions options;
  options.device = &test::h200();
  const CandidateList found = get_kernels(args, {}, options);
  REQUIRE_FALSE(found.empty());
  return std::string(found.front().name());
}

}  // namespace

TEST_CASE("many small blocks that come and go are no first choice", "[ranking]") {
  // 190 us by 64x16 tiles of gemm_sm80, 98 by persistent blocks of gemm_sm90.
  const std::string first =
      first_choice(problem({56, 31691, 8, 24}, DType::bf16, DType::bf16, Layout::column));
  CHECK(first == "gemm_sm90_bf16_bf16_f32_bf16_rcr_256x64x64_c1x1_s4_ping_pong_exchanged_a8x8");
}

TEST_CASE("a residual beside short K costs tiles of FMA kernels more than their sums", "[ranking]") {
  // 37 us by 128x128 tiles, 23 by tiles of 64x64.
  GemmArguments args = problem({1, 1529, 2044, 2}, DType::bf16, DType::bf16, Layout::row);
  args.epilogue.residual = args.out;
  CHECK(first_choice(args) == "gemm_simt_bf16_bf16_f32_bf16_rrr_64x64x16_t4x4");
}

TEST_CASE("lanes store tiles of a width of 128 or 256 faster than others", "[ranking]") {
  // 24.5 us by 128x200, 20.6 by 128x256.
  const std::string first =
      first_choice(problem({1, 5248, 1158, 200}, DType::bf16, DType::bf16, Layout::column));
  CHECK(first == "gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8");
}

TEST_CASE("rows of a tile that lie outside of the output are not all stored", "[ranking]") {
  // 61 us by 16x64 tiles of gemm_sm80, 39 by 64x256 tiles.
  const std::string first = first_choice(problem({23, 16, 28288, 16}, DType::s8, DType::s32, Layout::column));
  CHECK(first == "gemm_sm90_s8_s8_s32_s32_rcr_64x256x128_c1x1_s4_ping_pong_a16x16");
}
