// Facts about views: which strides are refused, which views overlap, against enumeration.
#include "operations/common/tensor_checks.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "quarry/tensor.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;
using test::between;
using test::coin;
using test::Random;

/// Memory that views of tests lie in; nothing reads it.
alignas(64) unsigned char memory[1 << 16];

/// A view with random strides into the first bytes of the memory.
TensorView random_view(Random& random, int rank, int most_extent, int most_stride) {
  std::int64_t extents[3];
  std::int64_t strides[3];
  for (int i = 0; i < rank; ++i) {
    extents[i] = between(random, random() % 8 == 0 ? 0 : 1, most_extent);
    strides[i] = between(random, 0, most_stride);
  }
  const auto size = static_cast<std::size_t>(rank);
  return TensorView::strided(memory + 2 * between(random, 0, 20), DType::f16, {extents, size},
                             {strides, size});
}

/// The offsets of all elements, one by one.
std::vector<std::int64_t> offsets(const TensorView& view) {
  std::vector<std::int64_t> all = {0};
  for (std::size_t i = 0; i < view.rank; ++i) {
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : all) {
      for (std::int64_t j = 0; j < view.extents[i]; ++j) next.push_back(offset + j * view.strides[i]);
    }
    all = next;
  }
  return all;
}

/// The addresses of all bytes.
std::set<std::uintptr_t> bytes(const TensorView& view) {
  std::set<std::uintptr_t> all;
  const auto size = static_cast<std::uintptr_t>(bytes_of(view.dtype));
  for (const std::int64_t offset : offsets(view)) {
    const std::uintptr_t first =
        reinterpret_cast<std::uintptr_t>(view.data) + static_cast<std::uintptr_t>(offset) * size;
    for (std::uintptr_t i = 0; i < size; ++i) all.insert(first + i);
  }
  return all;
}

bool overlaps_itself(const TensorView& view) {
  const std::vector<std::int64_t> all = offsets(view);
  return std::set<std::int64_t>(all.begin(), all.end()).size() != all.size();
}

}  // namespace

TEST_CASE("output strides against enumeration", "[tensor]") {
  const auto seed = GENERATE(11U, 22U, 33U);
  INFO("seed " << seed);
  Random random(seed);
  int refusals = 0;
  for (int i = 0; i < 4000; ++i) {
    const int rank = between(random, 2, 3);
    TensorView view = random_view(random, rank, 4, 14);
    CAPTURE(rank, view.extents, view.strides);
    const bool ok = static_cast<bool>(detail::check_output_strides(view));
    refusals += !ok;
    if (ok) REQUIRE_FALSE(overlaps_itself(view));  // never lets an overlap pass
    // Rows (or columns) of neighbours: the rule is exact.
    view.strides[static_cast<std::size_t>(between(random, rank - 2, rank - 1))] = 1;
    if (rank == 2) REQUIRE(static_cast<bool>(detail::check_output_strides(view)) == !overlaps_itself(view));
  }
  CHECK(refusals > 100);
  CHECK(refusals < 3900);
}

TEST_CASE("input strides against enumeration", "[tensor]") {
  const auto seed = GENERATE(14U, 25U, 36U);
  INFO("seed " << seed);
  Random random(seed);
  int refusals = 0;
  for (int i = 0; i < 4000; ++i) {
    TensorView view = random_view(random, 2, 4, 14);
    CAPTURE(view.extents, view.strides);
    const bool ok = static_cast<bool>(detail::check_input_strides(view, Operand::a));
    refusals += !ok;
    const bool broadcasts = view.strides[0] == 0 || view.strides[1] == 0;
    REQUIRE(ok == (broadcasts || !overlaps_itself(view)));
    REQUIRE(detail::check_input_strides(view.with_overlap(), Operand::a));
  }
  CHECK(refusals > 100);
  CHECK(refusals < 3900);
}

TEST_CASE("nested output strides with any padding are accepted", "[tensor]") {
  Random random(44);
  for (int i = 0; i < 2000; ++i) {
    std::array<std::size_t, 3> order = {0, 1, 2};
    std::shuffle(order.begin(), order.end(), random);
    std::array<std::int64_t, 3> extents;
    std::array<std::int64_t, 3> strides;
    std::int64_t stride = between(random, 1, 3);
    for (const std::size_t d : order) {
      extents[d] = between(random, 1, 5);
      strides[d] = stride;
      stride = stride * extents[d] + between(random, 0, 3);
    }
    CAPTURE(extents, strides);
    REQUIRE(detail::check_output_strides(TensorView::strided(nullptr, DType::f32, extents, strides)));
  }
}

TEST_CASE("overlap of views against enumeration", "[tensor]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  INFO("seed " << seed);
  Random random(seed);
  int disjoint_inside = 0;
  for (int i = 0; i < 3000; ++i) {
    const TensorView one = random_view(random, between(random, 1, 3), 4, 12);
    TensorView other = random_view(random, between(random, 1, 3), 4, 12);
    if (coin(random)) other.strides = one.strides;
    CAPTURE(one.data, one.extents, one.strides, other.data, other.extents, other.strides);
    const std::set<std::uintptr_t> a = bytes(one);
    const bool shared =
        std::ranges::any_of(bytes(other), [&](std::uintptr_t byte) { return a.contains(byte); });
    const bool verdict = detail::may_overlap(one, other);
    if (shared) REQUIRE(verdict);  // never lets an overlap pass
    const detail::ByteRange r = detail::byte_range(one);
    const detail::ByteRange s = detail::byte_range(other);
    disjoint_inside += !verdict && r.begin < s.end && s.begin < r.end;
  }
  CHECK(disjoint_inside > 0);  // ranges that interleave without touching are told apart
}
