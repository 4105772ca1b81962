// Reordering matrices in host memory, and what is refused.
#include "quarry/reorder.hpp"

#include <cstring>
#include <limits>

#include "catch_compat.hpp"
#include "lab/problems/guarded_tensor.hpp"
#include "lab/problems/operands.hpp"
#include "operations/common/host/matrix.hpp"
#include "quarry/quarry.hpp"
#include "unit/random_gemm.hpp"

using namespace quarry;
using test::Random;

namespace {

alignas(256) std::byte memory[1 << 16];

void refused(const TensorView& from, const TensorView& to, const std::string& words) {
  const Status status = reorder(from, to);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK_THAT(status.message(), Catch::Contains(words));
}

}  // namespace

TEST_CASE("a matrix of any layout is copied to any other", "[reorder]") {
  const std::uint64_t seed = std::random_device()();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 400; ++i) {
    const auto source = static_cast<Layout>(i % layout_count);
    const auto target = static_cast<Layout>(i / layout_count % layout_count);
    constexpr DType types[] = {DType::s8, DType::u8, DType::s32, DType::f32};
    const DType type = test::one_of(random, types);
    const bool whole = is_interleaved(source) || is_interleaved(target);
    const auto extent = [&] {
      return whole ? 32 * test::between(random, 0, 5) : test::between(random, 0, 150);
    };
    const int rows = extent();
    const int columns = extent();
    const int batch = test::coin(random) ? 0 : test::between(random, 1, 3);
    CAPTURE(i, rows, columns, batch, static_cast<int>(type));
    auto from = lab::GuardedTensor::make(test::padded_matrix(random, type, source, 1, batch, rows, columns));
    auto to = lab::GuardedTensor::make(test::padded_matrix(random, type, target, 1, batch, rows, columns));
    REQUIRE((from && to));
    lab::fill_random(from->view(), 1, {.seed = random()});
    const Status status = reorder(from->view(), to->view());
    INFO(status.message());
    REQUIRE(status);
    REQUIRE(to->check());
    const host::Matrix x(from->view());
    const host::Matrix y(to->view());
    const auto bytes = static_cast<std::int64_t>(bytes_of(type));
    for (std::int64_t e = 0; e < x.batch; ++e) {
      for (std::int64_t r = 0; r < x.rows; ++r) {
        for (std::int64_t c = 0; c < x.columns; ++c) {
          REQUIRE(std::memcmp(static_cast<const std::byte*>(x.data) + x.index(e, r, c) * bytes,
                              static_cast<const std::byte*>(y.data) + y.index(e, r, c) * bytes,
                              static_cast<std::size_t>(bytes)) == 0);
        }
      }
    }
  }
}

TEST_CASE("there and back again is the same matrix", "[reorder]") {
  std::vector<std::int8_t> there(2 * 64 * 96);
  for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::int8_t>(i * 7 % 251);
  std::vector<std::int8_t> middle(there.size());
  std::vector<std::int8_t> back(there.size());
  const auto rows = [](void* data) { return TensorView::row_major(data, DType::s8, {2, 64, 96}); };
  const TensorView interleaved = TensorView::column_interleaved32(middle.data(), DType::s8, {2, 64, 96});
  REQUIRE(reorder(rows(there.data()), interleaved));
  CHECK(middle[32] == there[96]);  // element (1, 0)
  CHECK(middle[64 * 32] == there[32]);
  REQUIRE(reorder(interleaved, rows(back.data())));
  CHECK(back == there);
}

TEST_CASE("a broadcast matrix is spread", "[reorder]") {
  const std::int8_t one = 42;
  const std::int64_t extents[] = {32, 32};
  const std::int64_t zeros[] = {0, 0};
  std::vector<std::int8_t> to(32 * 32);
  REQUIRE(reorder(TensorView::strided(&one, DType::s8, extents, zeros),
                  TensorView::row_interleaved32(to.data(), DType::s8, {32, 32})));
  CHECK(to == std::vector<std::int8_t>(32 * 32, 42));
}

TEST_CASE("what cannot be reordered is refused by name", "[reorder]") {
  const TensorView from = TensorView::row_major(memory, DType::s8, {64, 64});
  const TensorView to = TensorView::row_interleaved32(memory + 8192, DType::s8, {64, 64});
  REQUIRE(reorder(from, to));
  refused({}, to, "Operand `from` is missing");
  refused(from, {}, "Operand `to` is missing");
  refused(TensorView::row_major(memory, DType::u8, {64, 64}), to,
          "Operand `from` is unsupported: expected s8, got u8");
  refused(TensorView::row_major(memory, DType::s8, {32, 64}), to, "expected 64 rows, got 32");
  refused(TensorView::row_major(memory, DType::s8, {64, 32}), to, "expected 64 columns, got 32");
  refused(TensorView::row_major(memory, DType::s8, {1, 64, 64}), to, "expected rank 2, got rank 3");
  refused(TensorView::vector(memory, DType::s8, 64), to, "Operand `from` does not fit: expected rank 2");
  refused(from, TensorView::row_interleaved32(memory, DType::s8, {64, 65}), "multiples of 32, got 65");
  refused(from, TensorView::row_interleaved32(memory + 8192, DType::s8, {64, 64}, 64),
          "Operand `to` overlaps itself");
  TensorView broadcast = from;
  broadcast.strides[0] = 0;
  refused(to, broadcast, "Operand `to` overlaps itself");
  refused(from, from, "Operand `from` overlaps `to`");
  refused(from, TensorView::row_interleaved32(memory + 4095, DType::s8, {64, 64}),
          "Operand `from` overlaps `to`");
  refused(TensorView::row_major(memory, DType::f16, {64, 64}),
          TensorView::column_major(memory, DType::f16, {64, 64}),
          "Matrices of s8, u8, s32 and f32 are reordered, and not those of f16");
  refused(TensorView::row_major(nullptr, DType::s8, {64, 64}), to, "Operand `from` has no data");
  refused(from, TensorView::row_interleaved32(nullptr, DType::s8, {64, 64}), "Operand `to` has no data");
  refused(from.on({MemoryKind::host, 0}), to.on({MemoryKind::device, 0}), "lies elsewhere");
  refused(from.on({MemoryKind::device, 0}), to.on({MemoryKind::host, 0}), "lies elsewhere");
  refused(from.on({MemoryKind::device, 0}), to.on({MemoryKind::device, 1}), "lies elsewhere");
  refused(from.on({MemoryKind::device, -1}), to.on({MemoryKind::device, 0}), "no kind of memory");
  refused(from.on({static_cast<MemoryKind>(9), 0}), to, "no kind of memory");
  TensorView negative = from;
  negative.extents[0] = -1;
  refused(negative, to, "negative extent");
}

TEST_CASE("arrays of pointers are refused by name, and nothing is written", "[reorder]") {
  std::vector<std::int8_t> matrices(2 * 64 * 64, 1);
  const void* pointers[] = {matrices.data(), matrices.data() + 64 * 64};
  const void* const before[] = {pointers[0], pointers[1]};
  const TensorView array = PointerArrayView::row_major(pointers, DType::s8, 2, {64, 64});
  const TensorView matrix = TensorView::row_major(memory, DType::s8, {2, 64, 64});
  for (const MemoryKind kind :
       {MemoryKind::automatic, MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
    const auto on = [kind](const TensorView& view) { return view.on({kind, 0}); };
    refused(on(matrix), on(array), "Operand `to` is an array of pointers");
    refused(on(array), on(matrix), "Operand `from` is an array of pointers");
    refused(on(array), on(array), "Operand `to` is an array of pointers");
  }
  CHECK(std::memcmp(pointers, before, sizeof before) == 0);
  CHECK(matrices == std::vector<std::int8_t>(matrices.size(), 1));
}

TEST_CASE("a matrix without elements needs no memory", "[reorder]") {
  CHECK(reorder(TensorView::row_major(nullptr, DType::s8, {0, 64}),
                TensorView::row_interleaved32(nullptr, DType::s8, {0, 64})));
}

TEST_CASE("what is too large for a grid is refused", "[reorder]") {
  constexpr std::int64_t large = (std::int64_t{1} << 31) - 32;
  const TensorView from = TensorView::row_interleaved32(memory, DType::s8, {large, 16384});
  const TensorView to =
      TensorView::column_interleaved32(memory + (std::int64_t{1} << 46), DType::s8, {large, 16384});
  const Status status = reorder(from.on({MemoryKind::device, 0}), to.on({MemoryKind::device, 0}));
  CHECK(status.code() == StatusCode::unsupported);
  CHECK_THAT(status.message(), Catch::Contains("The problem is too large"));
}
