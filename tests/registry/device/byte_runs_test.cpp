/// Runs of bytes beside the elements that they stand for.
#include "registry/device/byte_runs.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "operations/common/tensor_checks.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

/// Any strides, small ones, so that extents often touch, interleave or overlap.
TensorView random_view(Random& random) {
  constexpr DType types[] = {DType::s8, DType::f16, DType::f32, DType::f64, DType::s4};
  TensorView view;
  view.data = reinterpret_cast<const void*>(std::uintptr_t{1} << 20);
  view.dtype = one_of(random, types);
  view.rank = static_cast<std::uint8_t>(between(random, 1, 4));
  for (std::size_t i = 0; i < view.rank; ++i) {
    view.extents[i] = between(random, coin(random) ? 1 : 0, 5);
    view.strides[i] = between(random, 0, 30);
    // Lines of elements that share a byte begin at whole bytes.
    if (bits_of(view.dtype) < 8) view.strides[i] *= 2;
  }
  if (coin(random)) view.strides[static_cast<std::size_t>(between(random, 0, view.rank - 1))] = 1;
  return view;
}

/// Every byte that an element has a part in, as offsets.
std::set<std::int64_t> bytes_of_elements(const TensorView& view) {
  std::set<std::int64_t> bytes;
  const auto& n = view.extents;
  std::array<std::int64_t, 4> extents = {1, 1, 1, 1};
  for (std::size_t i = 0; i < view.rank; ++i) extents[i] = n[i];
  for (std::int64_t i = 0; i < extents[0] * extents[1] * extents[2] * extents[3]; ++i) {
    std::int64_t element = 0;
    std::int64_t rest = i;
    for (std::size_t extent = view.rank; extent-- > 0; rest /= extents[extent])
      element += rest % extents[extent] * view.strides[extent];
    const std::int64_t first = element * bits_of(view.dtype) / 8;
    const std::int64_t last = (element + 1) * bits_of(view.dtype) - 1;
    for (std::int64_t byte = first; byte <= last / 8; ++byte) bytes.insert(byte);
  }
  return bytes;
}

}  // namespace

TEST_CASE("runs are the bytes of a view's elements, in any pieces", "[on_device]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int trial = 0; trial < 5000; ++trial) {
    const TensorView view = random_view(random);
    if (!detail::check_tensor(view, Operand::a, 1, 4)) continue;  // more half bytes than one extent of 1
    const std::set<std::int64_t> expected = bytes_of_elements(view);
    const detail::ByteRuns runs = detail::byte_runs(view);
    const std::int64_t end = expected.empty() ? 0 : *expected.rbegin() + 1;
    REQUIRE(runs.reach() == end);
    std::set<std::int64_t> found;
    const int step = between(random, 1, 300);
    for (std::int64_t from = -between(random, 0, 50); from < end + 10; from += step) {
      detail::each_run(runs, from, from + step, [&](std::int64_t offset, std::int64_t bytes) {
        REQUIRE(bytes > 0);
        REQUIRE(offset >= from);
        REQUIRE(offset + bytes <= from + step);
        for (std::int64_t i = 0; i < bytes; ++i) found.insert(offset + i);
      });
    }
    REQUIRE(found == expected);
  }
}

TEST_CASE("packed views are one run, whatever the order of their extents", "[on_device]") {
  const char memory[4096] = {};
  const auto runs = [&](const TensorView& view) { return detail::byte_runs(view); };
  const TensorView rows = TensorView::row_major(memory, DType::f32, {3, 5, 7});
  CHECK(runs(rows).rank == 0);
  CHECK(runs(rows).bytes == 420);
  CHECK(runs(rows) == runs(TensorView::column_major(memory, DType::f32, {3, 5, 7})));
  CHECK(runs(rows) == runs(TensorView::vector(memory, DType::f32, 105)));
  const detail::ByteRuns padded = runs(TensorView::row_major(memory, DType::f32, {3, 5}, 8));
  CHECK(padded.rank == 1);
  CHECK(padded.bytes == 20);
  CHECK(padded.extents[0] == detail::ByteRuns::Extent{3, 32});
  const detail::ByteRuns groups = runs(TensorView::row_interleaved32(memory, DType::s8, {64, 8}, 300));
  CHECK(groups.bytes == 256);
  CHECK(groups.extents[0] == detail::ByteRuns::Extent{2, 300});
  CHECK(runs(TensorView::vector(memory, DType::f32, 0)).reach() == 0);
}
