// First choices for few rows beside wide weights: as many tiles as multiprocessors read memory fastest.
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;

/// The tile of the first choice for A by rows and B by columns.
Extent3 first_tile(std::int64_t m, std::int64_t n, std::int64_t k, DType type, DType out) {
  const GemmArguments args = {.a = TensorView::row_major(nullptr, type, {m, k}),
                              .b = TensorView::column_major(nullptr, type, {k, n}),
                              .out = TensorView::row_major(nullptr, out, {m, n})};
  FindOptions options;
  options.device = &test::h200();
  const CandidateList found = get_kernels(args, {}, options);
  REQUIRE_FALSE(found.empty());
  return found.front().metadata().design.tile;
}

}  // namespace

TEST_CASE("64 rows beside 14336 columns take 128 tiles of 112 columns", "[ranking]") {
  // us on an H200 with gaps; by the fastest tile of 64 or 128 columns: e4m3 17.4 (18.3), s8 18.2 (19.4), bf16
  // 31.1 (33.0).
  CHECK(first_tile(64, 14336, 4096, DType::e4m3, DType::bf16) == Extent3{64, 112, 256});
  CHECK(first_tile(64, 14336, 4096, DType::s8, DType::s32) == Extent3{64, 112, 256});
  CHECK(first_tile(64, 14336, 4096, DType::bf16, DType::bf16) == Extent3{64, 112, 128});
}

TEST_CASE("64 rows take other tiles where 112 columns leave multiprocessors idle", "[ranking]") {
  // 128 tiles of 64 columns; 74 of 112 would take 42 us and not 36.
  CHECK(first_tile(64, 8192, 8192, DType::bf16, DType::bf16).n == 64);
}
