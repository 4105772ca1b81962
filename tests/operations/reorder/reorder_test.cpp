// Reordering matrices in host memory, and what is refused: quarry::reorder.
#include "quarry/reorder.hpp"

#include <cstring>
#include <limits>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "operations/common/host/matrix.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/prepared_launch.hpp"
#include "support/random_reorder.hpp"

using namespace quarry;
using test::Random;

namespace {

alignas(256) std::byte memory[1 << 16];

void refused(const TensorView& from, const TensorView& to, const std::string& words) {
  const Status status = reorder(from, to);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK_THAT(status.message(), Catch::Contains(words));
}

/// Whether two matrices have the same bytes, element by element.
bool are_same(const TensorView& from, const TensorView& to) {
  const host::Matrix x(from);
  const host::Matrix y(to);
  const auto bytes = static_cast<std::int64_t>(bytes_of(from.dtype));
  const auto at = [&](const host::Matrix& m, std::int64_t e, std::int64_t r, std::int64_t c) {
    return static_cast<const std::byte*>(m.data) + m.index(e, r, c) * bytes;
  };
  for (std::int64_t e = 0; e < x.batch; ++e) {
    for (std::int64_t r = 0; r < x.rows; ++r) {
      for (std::int64_t c = 0; c < x.columns; ++c) {
        if (std::memcmp(at(x, e, r, c), at(y, e, r, c), static_cast<std::size_t>(bytes)) != 0) return false;
      }
    }
  }
  return true;
}

}  // namespace

TEST_CASE("a matrix of any layout and type is copied to any other layout", "[reorder]") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    for (const detail::Row& row : test::reorder_rows()) {
      const ReorderArguments shape = test::random_reorder(random, row.metadata.operands.out.dtype, i, 0, 150);
      auto operands = lab::OperandsOf<ReorderArguments>::make(shape, {.seed = random()});
      REQUIRE(operands);
      const auto& [from, to] = operands->arguments;
      CAPTURE(i, row.metadata.name, to.extents[0], to.extents[1], to.rank);
      const Status status = reorder(from, to);
      INFO(status.message());
      REQUIRE(status);
      REQUIRE(operands->check_outputs());
      REQUIRE(are_same(from, to));
    }
  }
}

TEST_CASE("a large matrix is copied by several threads", "[reorder]") {
  const ReorderArguments shape{.from = TensorView::row_major(nullptr, DType::s8, {1100, 1100}),
                               .to = TensorView::column_major(nullptr, DType::s8, {1100, 1100}, 1111)};
  auto operands = lab::OperandsOf<ReorderArguments>::make(shape, {.seed = 1});
  REQUIRE(operands);
  REQUIRE(reorder(operands->arguments.from, operands->arguments.to));
  REQUIRE(operands->check_outputs());
  CHECK(are_same(operands->arguments.from, operands->arguments.to));
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

TEST_CASE("elements keep their bits, those of numbers that are none too", "[reorder]") {
  const std::uint32_t from[] = {0x7fc00001, 0xff800001, 0x80000000, 0x00000001};
  std::uint32_t to[4] = {};
  REQUIRE(reorder(TensorView::row_major(from, DType::f32, {2, 2}),
                  TensorView::column_major(to, DType::f32, {2, 2})));
  CHECK(to[0] == from[0]);
  CHECK(to[1] == from[2]);
  CHECK(to[2] == from[1]);
  CHECK(to[3] == from[3]);
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
  refused(TensorView::row_major(memory, DType::s8, {2, 64, 64}),
          TensorView::row_interleaved32(memory + 8192, DType::s8, {3, 64, 64}),
          "expected a batch of 3, got 2");
  refused(TensorView::row_major(memory, DType::s8, {1, 64, 64}), to, "expected rank 2, got rank 3");
  refused(TensorView::vector(memory, DType::s8, 64), to, "Operand `from` does not fit: expected rank 2");
  refused(from, TensorView::row_interleaved32(memory, DType::s8, {64, 65}), "multiples of 32, got 65");
  refused(from, TensorView::row_interleaved32(memory + 8192, DType::s8, {64, 64}, 64),
          "Operand `to` overlaps itself");
  TensorView broadcast = from;
  broadcast.strides[0] = 0;
  refused(to, broadcast, "Operand `to` overlaps itself");
  refused(from, from, "Operand `from` overlaps `to`: expected memory of its own, got memory of `to`");
  refused(from, TensorView::row_interleaved32(memory + 4095, DType::s8, {64, 64}),
          "Operand `from` overlaps `to`");
  refused(
      TensorView::row_interleaved32(memory, DType::f16, {64, 64}),
      TensorView::column_major(memory + 8192, DType::f16, {64, 64}),
      "Operand `from` is row_interleaved32, which is for operands of s8 and u8 and outputs of s8, u8, s32 "
      "and f32, and not for f16");
  refused(TensorView::row_major(nullptr, DType::s8, {64, 64}), to, "Operand `from` has no data");
  refused(from, TensorView::row_interleaved32(nullptr, DType::s8, {64, 64}), "Operand `to` has no data");
  refused(from.on({MemoryKind::host, 0}), to.on({MemoryKind::device, 0}), "`from` lies elsewhere");
  refused(from.on({MemoryKind::device, 0}), to.on({MemoryKind::host, 0}), "`from` lies elsewhere");
  refused(from.on({MemoryKind::device, 0}), to.on({MemoryKind::device, 1}), "`from` lies elsewhere");
  refused(from.on({MemoryKind::device, -1}), to.on({MemoryKind::device, 0}), "an unknown kind of memory");
  refused(from.on({static_cast<MemoryKind>(9), 0}), to, "an unknown kind of memory");
  TensorView negative = from;
  negative.extents[0] = -1;
  refused(negative, to, "negative extent");
}

TEST_CASE("elements that share a byte have no kernel", "[reorder]") {
  const auto matrix = [](std::byte* data) { return TensorView::row_major(data, DType::s4, {64, 64}); };
  const Status status = reorder(matrix(memory), matrix(memory + 8192));
  CHECK(status.code() == StatusCode::no_kernel);
  CHECK(status.message() ==
        "No kernel is registered for matrices of s4: elements that are whole bytes are reordered");
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
  CHECK(reorder(TensorView::row_major(nullptr, DType::f64, {0, 64, 64}),
                TensorView::column_major(nullptr, DType::f64, {0, 64, 64})));
}

TEST_CASE("blocks walk over matrices of any size", "[reorder]") {
  constexpr std::int64_t large = (std::int64_t{1} << 31) - 32;
  const ReorderArguments args = {.from = TensorView::row_interleaved32(nullptr, DType::s8, {large, 16384}),
                                 .to = TensorView::column_interleaved32(nullptr, DType::s8, {large, 16384})};
  const Kernel kernel = *find_kernel("reorder_matrix_s8");
  const auto prepared = test::launch_of(kernel, args);
  CHECK(prepared->launch.steps[0].grid == 1056);
  const ReorderArguments few = {.from = TensorView::row_major(nullptr, DType::s8, {2, 65, 64}),
                                .to = TensorView::column_major(nullptr, DType::s8, {2, 65, 64})};
  CHECK(test::launch_of(kernel, few)->launch.steps[0].grid == 4);
}

TEST_CASE("strides of fake tensors that hardly fit 64 bits are told from even distances", "[reorder]") {
  constexpr std::int64_t extents[] = {2, 2, 3, 2};
  constexpr std::int64_t strides[] = {0, 0, 4'000'000'000'000'000'000, 1};
  const ReorderArguments args = {.from = TensorView::strided(nullptr, DType::s8, extents, strides),
                                 .to = TensorView::row_major(nullptr, DType::s8, {2, 2, 3, 2})};
  CHECK_FALSE(get_kernels(args).empty());  // as matrices of 3 rows, four of them
}
