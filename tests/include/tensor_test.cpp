/// The factories of tensor views: strides, batches, and what they make of extents that no tensor has.
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"

namespace quarry {
namespace {

using Extents = std::array<std::int64_t, TensorView::max_rank>;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
const float element = 0;

TEST_CASE("A row-major matrix is packed unless told otherwise", "[tensor]") {
  const TensorView view = TensorView::row_major(&element, DType::f32, {3, 5});
  CHECK(view.data == &element);
  CHECK(view.dtype == DType::f32);
  CHECK(view.rank == 2);
  CHECK(view.extents == Extents{3, 5});
  CHECK(view.strides == Extents{5, 1});
  CHECK(view.assumed_alignment == 16);
  CHECK(view.memory == Memory{});
  CHECK(TensorView::row_major(&element, DType::f32, {3, 5}, 8).strides == Extents{8, 1});
}

TEST_CASE("A column-major matrix is packed unless told otherwise", "[tensor]") {
  CHECK(TensorView::column_major(nullptr, DType::f16, {3, 5}).strides == Extents{1, 3});
  CHECK(TensorView::column_major(nullptr, DType::f16, {3, 5}, 4).strides == Extents{1, 4});
}

TEST_CASE("A batch is packed behind whole matrices", "[tensor]") {
  CHECK(TensorView::row_major(nullptr, DType::f16, {2, 3, 5}).strides == Extents{15, 5, 1});
  CHECK(TensorView::row_major(nullptr, DType::f16, {2, 3, 5}, 8).strides == Extents{24, 8, 1});
  CHECK(TensorView::column_major(nullptr, DType::f16, {2, 3, 5}).strides == Extents{15, 1, 3});
  CHECK(TensorView::column_major(nullptr, DType::f16, {2, 3, 5}, 4).strides == Extents{20, 1, 4});
  CHECK(TensorView::row_major(nullptr, DType::f16, {7, 2, 3, 5}).strides == Extents{30, 15, 5, 1});
}

TEST_CASE("A vector is contiguous", "[tensor]") {
  const TensorView view = TensorView::vector(&element, DType::f32, 9);
  CHECK(view.rank == 1);
  CHECK(view.extents == Extents{9});
  CHECK(view.strides == Extents{1});
}

TEST_CASE("Any strides are taken as they are", "[tensor]") {
  const std::vector<std::int64_t> extents = {4, 3, 2};
  const std::vector<std::int64_t> strides = {0, -7, 11};
  const TensorView view = TensorView::strided(&element, DType::s8, extents, strides);
  CHECK(view.rank == 3);
  CHECK(view.extents == Extents{4, 3, 2});
  CHECK(view.strides == Extents{0, -7, 11});
}

TEST_CASE("The same view lies elsewhere", "[tensor]") {
  const Memory where = {MemoryKind::managed, 3};
  const TensorView view = TensorView::row_major(&element, DType::f32, {3, 5}).on(where);
  CHECK(view.memory == where);
  CHECK(view.extents == Extents{3, 5});
}

TEST_CASE("Extents and strides of types that share bytes count elements", "[tensor]") {
  CHECK(TensorView::row_major(nullptr, DType::s4, {3, 6}).strides == Extents{6, 1});
  CHECK(TensorView::column_major(nullptr, DType::u4, {2, 4, 5}).strides == Extents{20, 1, 4});
  CHECK(TensorView::vector(nullptr, DType::u4, 7).strides == Extents{1});
}

TEST_CASE("Extents that a view cannot hold make one that is refused", "[tensor]") {
  CHECK(TensorView::row_major(nullptr, DType::f32, {}).rank == 0);
  CHECK(TensorView::row_major(nullptr, DType::f32, {1, 2, 3, 4, 5}).rank > TensorView::max_rank);
  CHECK(TensorView::column_major(nullptr, DType::f32, {1, 2, 3, 4, 5, 6}).rank > TensorView::max_rank);
  const std::vector<std::int64_t> many(1000, 2);
  CHECK(TensorView::strided(nullptr, DType::f32, many, many).rank > TensorView::max_rank);
  const std::vector<std::int64_t> two(2, 2);
  const std::vector<std::int64_t> three(3, 2);
  CHECK(TensorView::strided(nullptr, DType::f32, two, three).rank > TensorView::max_rank);
  CHECK(TensorView::strided(nullptr, DType::f32, three, two).rank > TensorView::max_rank);
}

TEST_CASE("A packed view of nothing has strides of something", "[tensor]") {
  CHECK(TensorView::row_major(nullptr, DType::f32, {3, 0}).strides == Extents{1, 1});
  CHECK(TensorView::row_major(nullptr, DType::f32, {2, 0, 5}).strides == Extents{5, 5, 1});
}

TEST_CASE("Strides that do not fit 64 bits become the largest", "[tensor]") {
  CHECK(TensorView::row_major(nullptr, DType::f32, {2, largest, largest}).strides ==
        Extents{largest, largest, 1});
  const auto negative = TensorView::row_major(nullptr, DType::f32, {2, -3, -5});
  CHECK(negative.extents == Extents{2, -3, -5});
  CHECK(negative.rank == 3);
}

TEST_CASE("Packed views hold each element once", "[tensor]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const auto extent = [&] { return static_cast<std::int64_t>(1 + random() % 5); };
    const std::int64_t batch = extent();
    const std::int64_t rows = extent();
    const std::int64_t columns = extent();
    const TensorView view = random() % 2 == 0
                                ? TensorView::row_major(nullptr, DType::f32, {batch, rows, columns})
                                : TensorView::column_major(nullptr, DType::f32, {batch, rows, columns});
    std::vector<int> hits(static_cast<std::size_t>(batch * rows * columns));
    for (std::int64_t i = 0; i < batch; ++i) {
      for (std::int64_t j = 0; j < rows; ++j) {
        for (std::int64_t k = 0; k < columns; ++k) {
          ++hits.at(
              static_cast<std::size_t>(i * view.strides[0] + j * view.strides[1] + k * view.strides[2]));
        }
      }
    }
    REQUIRE(hits == std::vector<int>(hits.size(), 1));
  }
}

}  // namespace
}  // namespace quarry
