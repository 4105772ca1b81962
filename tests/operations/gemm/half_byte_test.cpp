/// Tensors whose elements are half bytes: which views are taken, what bytes they lie in.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "operations/common/tensor_checks.hpp"
#include "operations/gemm/normalise.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/gemm_checks.hpp"
#include "support/random_gemm.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using test::accepted;
using test::between;
using test::check_refused;
using test::coin;
using test::memory;
using test::plain_problem;
using test::Random;

/// A view whose lines begin at whole bytes, in the first bytes of the memory.
TensorView random_view(Random& random) {
  const int rank = between(random, 1, 3);
  std::array<std::int64_t, 3> extents = {};
  std::array<std::int64_t, 3> strides = {};
  for (std::size_t i = 0; i < 3; ++i) {
    extents[i] = between(random, random() % 8 == 0 ? 0 : 1, 4);
    strides[i] = 2 * between(random, 0, 6);
  }
  const auto size = static_cast<std::size_t>(rank);
  strides[static_cast<std::size_t>(between(random, 0, rank - 1))] = 1;
  return TensorView::strided(memory + between(random, 0, 20), coin(random) ? DType::s4 : DType::u4,
                             std::span(extents).first(size), std::span(strides).first(size));
}

/// The addresses of all bytes that hold an element.
std::set<std::uintptr_t> bytes(const TensorView& view) {
  std::vector<std::int64_t> offsets = {0};
  for (std::size_t i = 0; i < view.rank; ++i) {
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : offsets) {
      for (std::int64_t j = 0; j < view.extents[i]; ++j) next.push_back(offset + j * view.strides[i]);
    }
    offsets = next;
  }
  std::set<std::uintptr_t> all;
  for (const std::int64_t offset : offsets)
    all.insert(reinterpret_cast<std::uintptr_t>(view.data) + static_cast<std::uintptr_t>(offset / 2));
  return all;
}

TEST_CASE("matrices of half bytes: lines begin at whole bytes", "[types]") {
  for (const DType type : {DType::s4, DType::u4}) {
    GemmArguments args = plain_problem(64, 96, 32, type);
    args.a.data = memory + 1;  // any byte will do
    const GemmProblem problem = accepted(args);
    CHECK(problem.types.accumulator == DType::s32);
    CHECK(problem.b.alignment[static_cast<int>(Layout::column)] == 32);  // 16 bytes
    CHECK(problem.a.alignment[static_cast<int>(Layout::row)] == 2);
    CHECK(problem.a.alignment[static_cast<int>(Layout::column)] == 0);
    // Packed lines of an odd number of elements.
    args = plain_problem(64, 96, 33, type);
    check_refused(args, "`a` is of " + std::string(to_string(type)) +
                            ", two of which share a byte: strides must be even, but one that is 1; got 33");
    args.a = TensorView::row_major(nullptr, type, {64, 33}, 34);
    check_refused(args, "`b` is of");
    args.b = TensorView::column_major(nullptr, type, {33, 96}, 34);
    accepted(args);
    args.a.strides = {1, 1};  // rows that begin within bytes
    check_refused(args, "strides must be even, but one that is 1; got 1");
    args.a.strides = {0, 1};
    accepted(args);
    args = plain_problem(64, 96, 32, type);
    args.out = TensorView::row_major(nullptr, type, {2, 64, 96});
    args.out.strides[0] = 64 * 96 + 1;
    check_refused(args, "`out` is of");
    args = plain_problem(1, 1, 32, type);  // strides of one row are not used
    args.a.strides = {33, 1};
    accepted(args);
    args.a.assumed_alignment = 3;
    check_refused(args, "no power of two");
    args.a = PointerArrayView::row_major(nullptr, type, 3, {1, 32});
    CHECK(args.a.assumed_alignment == 1);
    args.out = TensorView::row_major(nullptr, type, {3, 1, 1}, 2);
    args.out.strides[0] = 2;
    accepted(args);
    args = plain_problem(64, 96, 32, type);
    args.a = TensorView::row_interleaved32(nullptr, type, {64, 32});
    check_refused(args, "`a` is row_interleaved32, which is for operands of s8 and u8");
    args = plain_problem(64, 96, 32, type);
    args.a.strides[0] = std::numeric_limits<std::int64_t>::max() - 1;
    check_refused(args, "`a` spans more bytes");
  }
}

TEST_CASE("ranges and overlaps of half bytes against enumeration", "[types]") {
  const auto seed = GENERATE(4U, 5U, 6U);
  INFO("seed " << seed);
  Random random(seed);
  int apart_inside = 0;
  for (int i = 0; i < 3000; ++i) {
    const TensorView one = random_view(random);
    TensorView other = random_view(random);
    if (coin(random)) other.strides = one.strides;
    CAPTURE(one.data, one.extents, one.strides, other.data, other.extents, other.strides);
    const std::set<std::uintptr_t> a = bytes(one);
    const std::set<std::uintptr_t> b = bytes(other);
    const detail::ByteRange r = detail::byte_range(one);
    const detail::ByteRange s = detail::byte_range(other);
    if (!a.empty()) {
      REQUIRE(r.begin == *a.begin());
      REQUIRE(r.end == *a.rbegin() + 1);
    }
    const bool shared = std::ranges::any_of(b, [&](std::uintptr_t byte) { return a.contains(byte); });
    const bool verdict = detail::may_overlap(one, other);
    if (shared) REQUIRE(verdict);
    apart_inside += !verdict && r.begin < s.end && s.begin < r.end;
  }
  CHECK(apart_inside > 0);
}

}  // namespace
