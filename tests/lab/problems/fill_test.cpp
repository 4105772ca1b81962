// Random operands: the same values however many threads make them.
#include "lab/problems/fill.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/problem.hpp"
#include "lab/tune/problem_lines.hpp"
#include "support/catch_compat.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;

/// All bytes of the operands, guards and poison among them.
std::vector<std::vector<std::byte>> bytes_of_operands(const Problem& problem, std::uint64_t seed,
                                                      int threads) {
  OperandOptions options = operand_options(problem, seed);
  options.threads = threads;
  const Result<Operands> operands = Operands::make(arguments_of(problem), options);
  REQUIRE(operands);
  std::vector<std::vector<std::byte>> bytes;
  for (const NamedTensor& each : operands->tensors())
    bytes.emplace_back(each.tensor.storage(), each.tensor.storage() + each.tensor.storage_bytes());
  return bytes;
}

/// The bytes of a buffer behind a view of these extents and strides, filled.
std::vector<std::byte> filled(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
                              std::size_t bytes, std::uint64_t seed, int threads) {
  std::vector<std::byte> buffer(bytes);
  TensorView view = TensorView::strided(buffer.data(), DType::f32, extents, strides);
  fill_random(view, 1, {.seed = seed, .threads = threads});
  return buffer;
}

}  // namespace

TEST_CASE("operands do not depend on the threads that fill them") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  for (const char* text :
       {"gemm 700x300x900 --a bf16:row --b bf16:col --c out", "gemm 700x300x900 --a f16:col --out f32:col",
        "gemm 99x500x130 --a f32:row:ld=133 --b f32:col:ld=200 --batch 7",
        "gemm 512x512x512 --a bf16:row --b s4:row --b-scale 1x128",
        "gemm 256x320x512 --a s8:row --out s32:row",
        "gemm 1024x512x1024 --a e4m3:row --b e4m3:col --out f16:row", "gemm 3x5x7 --a f64:row",
        "gemm 256x256x512 --a s8:col32 --b s8:row32 --out s32:col32"}) {
    INFO(text);
    const Result<Problem> problem = parse_command_text(text);
    INFO(problem.status().message());
    REQUIRE(problem);
    const auto alone = bytes_of_operands(*problem, seed, 1);
    CHECK(bytes_of_operands(*problem, seed, 5) == alone);
    CHECK(bytes_of_operands(*problem, seed + 1, 5) != alone);
  }
}

TEST_CASE("views whose elements share memory are filled in one order") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  const std::array<std::int64_t, 2> extents = {600, 400};
  for (const auto& strides : {std::array<std::int64_t, 2>{0, 1}, std::array<std::int64_t, 2>{1, 1},
                              std::array<std::int64_t, 2>{3, 2}, std::array<std::int64_t, 2>{399, 1},
                              std::array<std::int64_t, 2>{1, 599}}) {
    const auto bytes = static_cast<std::size_t>(599 * strides[0] + 399 * strides[1] + 1) * sizeof(float);
    INFO("strides " << strides[0] << ", " << strides[1]);
    const auto alone = filled(extents, strides, bytes, seed, 1);
    for (int round = 0; round < 5; ++round) CHECK(filled(extents, strides, bytes, seed, 4) == alone);
  }
}
