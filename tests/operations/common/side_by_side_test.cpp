/// Whether views share bytes, against the set of all their bytes.
#include "operations/common/side_by_side.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/tensor_checks.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

alignas(16) std::byte bytes_of_all[4096];

/// A matrix that begins at an element of the memory.
TensorView matrix(DType type, std::int64_t first, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                  bool by_columns) {
  const std::int64_t extents[] = {by_columns ? columns : rows, by_columns ? rows : columns};
  const std::int64_t strides[] = {by_columns ? 1 : ld, by_columns ? ld : 1};
  return TensorView::strided(bytes_of_all + first * bytes_of(type), type, extents, strides);
}

std::set<const void*> bytes_of_one(const TensorView& view) {
  std::set<const void*> all;
  for (std::int64_t i = 0; i < view.extents[0]; ++i) {
    for (std::int64_t j = 0; j < view.extents[1]; ++j) {
      const auto* const element = static_cast<const std::byte*>(view.data) +
                                  (i * view.strides[0] + j * view.strides[1]) * bytes_of(view.dtype);
      for (int byte = 0; byte < bytes_of(view.dtype); ++byte) all.insert(element + byte);
    }
  }
  return all;
}

bool share_bytes(const std::vector<TensorView>& views) {
  std::set<const void*> taken;
  for (const TensorView& view : views) {
    std::set<const void*> own = bytes_of_one(view);
    const std::size_t count = taken.size() + own.size();
    taken.merge(own);
    if (taken.size() < count) return true;
  }
  return false;
}

bool lie_side_by_side(std::vector<TensorView> views) {
  std::ranges::sort(views, {}, [](const TensorView& view) { return detail::byte_range(view).begin; });
  std::vector<const TensorView*> pointers;
  for (const TensorView& view : views) pointers.push_back(&view);
  return detail::lie_side_by_side(pointers);
}

}  // namespace

TEST_CASE("tiles of one matrix lie side by side exactly where they share no byte", "[overlaps]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  int apart = 0, together = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::int64_t ld = 1 + up_to(12);
    std::vector<TensorView> views;
    for (std::int64_t count = up_to(5); count >= 0; --count) {
      const std::int64_t columns = 1 + up_to(std::min<std::int64_t>(ld - 1, 3));
      views.push_back(matrix(DType::f32, up_to(80), 1 + up_to(4), columns, ld, up_to(1) == 0));
    }
    const bool is_shared = share_bytes(views);
    REQUIRE(lie_side_by_side(views) == !is_shared);
    ++(is_shared ? together : apart);
  }
  CHECK(apart > 100);
  CHECK(together > 100);
}

TEST_CASE("views of any kind that lie side by side share no byte", "[overlaps]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  int apart = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<TensorView> views;
    for (std::int64_t count = up_to(4); count >= 0; --count) {
      const DType type = up_to(1) == 0 ? DType::f16 : DType::f32;
      views.push_back(matrix(type, up_to(200), up_to(4), up_to(4), up_to(9), up_to(1) == 0));
    }
    const bool verdict = lie_side_by_side(views);
    apart += verdict;
    if (verdict) REQUIRE_FALSE(share_bytes(views));
  }
  CHECK(apart > 100);
}

TEST_CASE("no views, and views without elements, lie side by side", "[overlaps]") {
  CHECK(lie_side_by_side({}));
  CHECK(lie_side_by_side({matrix(DType::f32, 0, 0, 4, 4, false), matrix(DType::f32, 0, 0, 4, 4, false)}));
}
