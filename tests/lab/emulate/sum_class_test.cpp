// Kernels of one sum class give a row the same bits, whatever M is and wherever the row stands: their own
// sources, run in the emulator.
#include <algorithm>
#include <cstring>
#include <map>
#include <random>

#include "lab/emulate/entries.hpp"
#include "lab/emulate/trial.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/operands.hpp"
#include "quarry/batch_invariant.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

using Dice = std::mt19937_64;

constexpr int n = 40;
constexpr int k = 200;
/// 24 numbers of rows: less than any tile, one tile and one row more, several.
constexpr int row_counts[] = {1,  2,  3,  5,  7,  8,  9,  15, 16, 17, 23,  31,
                              32, 33, 47, 48, 63, 64, 65, 80, 96, 97, 127, 129};
constexpr int most_rows = 129;

/// Rows of A by number, and B: bit patterns of finite values that cancel and round.
struct Values {
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
};

/// A bf16 with a random mantissa and sign, of 2^-4 to 2^3.
std::uint16_t bf16(Dice& dice) {
  const auto exponent = static_cast<unsigned>(123 + dice() % 8);
  return static_cast<std::uint16_t>((dice() % 2) << 15 | exponent << 7 | dice() % 128);
}

Values values(Dice& dice) {
  Values made;
  for (int i = 0; i < most_rows * k; ++i) made.a.push_back(bf16(dice));
  for (int i = 0; i < k * n; ++i) made.b.push_back(bf16(dice));
  return made;
}

/// The kernels that are compared: of different tiles, stages, schedules and families, all of one class.
std::vector<Kernel> kernels_of(const char* where, std::size_t count, Dice& dice) {
  std::vector<Kernel> all = get_kernels(*Filter::parse(
      std::string(where) +
      " and a.dtype == bf16 and b.dtype == bf16 and accumulator == f32 and out.dtype == f32 and "
      "a.layout == row and b.layout == column and out.layout == row and "
      "tile.m * tile.n <= 128 * 64"));
  std::shuffle(all.begin(), all.end(), dice);
  REQUIRE(all.size() >= count);
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  return all;
}

/// Rows of the output by the number of the row of A that made them.
using Rows = std::map<int, std::vector<float>>;

/// Runs a kernel on some rows of A, in this order.
Rows run(const Kernel& kernel, const std::vector<int>& rows, const Values& values,
         const emulate::Modules& modules, std::uint64_t seed) {
  const auto m = static_cast<std::int64_t>(rows.size());
  // Kernels that copy operands first take none that needs no copy.
  const std::int64_t line = kernel.metadata().design.reorders ? k + 1 : k;
  GemmArguments shape{.a = TensorView::row_major(nullptr, DType::bf16, {m, k}),
                      .b = TensorView::column_major(nullptr, DType::bf16, {k, n}, line),
                      .out = TensorView::row_major(nullptr, DType::f32, {m, n})};
  shape.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  Result<OperandsOf<GemmArguments>> made = OperandsOf<GemmArguments>::make(shape, {.seed = seed});
  REQUIRE(made);
  const auto put = [](const TensorView& view, std::size_t at, const std::uint16_t* from, std::size_t count) {
    std::memcpy(static_cast<std::uint16_t*>(const_cast<void*>(view.data)) + at, from, count * 2);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(made->arguments.a.strides[0]);
    put(made->arguments.a, i * row, &values.a[static_cast<std::size_t>(rows[i]) * k], k);
  }
  for (std::size_t j = 0; j < n; ++j)
    put(made->arguments.b, j * static_cast<std::size_t>(made->arguments.b.strides[1]), &values.b[j * k], k);
  emulate::TrialOptions options;
  options.emulator.seed = seed;
  const emulate::Verdict verdict = run_trial(kernel, *made, modules, options);
  CAPTURE(kernel.name(), m, seed);
  INFO((verdict.right() ? std::string() : verdict.reason()));
  REQUIRE(verdict.right());
  Rows result;
  const TensorView& out = made->arguments.out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* const line =
        static_cast<const float*>(out.data) + i * static_cast<std::size_t>(out.strides[0]);
    result[rows[i]] = {line, line + n};
  }
  return result;
}

/// Some rows of A, each once, in any order.
std::vector<int> some_rows(int count, Dice& dice) {
  std::vector<int> rows(most_rows);
  for (int i = 0; i < most_rows; ++i) rows[static_cast<std::size_t>(i)] = i;
  std::shuffle(rows.begin(), rows.end(), dice);
  rows.resize(static_cast<std::size_t>(count));
  return rows;
}

void check_class(const char* where, std::size_t count) {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  Dice dice(seed);
  const std::vector<Kernel> kernels = kernels_of(where, count, dice);
  for (const Kernel& kernel : kernels)
    REQUIRE(sum_class(kernel.metadata()) == sum_class(kernels[0].metadata()));
  const Result<emulate::Modules> modules = emulate::Modules::compile(emulate::entries_of(kernels), "");
  INFO(modules.status().message());
  REQUIRE(modules);
  const Values inputs = values(dice);
  Rows first;
  for (const int m : row_counts) {
    // Each M with another kernel, and one M in three with all of them.
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (m % 3 != 0 && i != static_cast<std::size_t>(m) % kernels.size()) continue;
      for (const auto& [row, bits] : run(kernels[i], some_rows(m, dice), inputs, *modules, dice() % 1000)) {
        const auto [place, is_new] = first.try_emplace(row, bits);
        CAPTURE(kernels[i].name(), m, row);
        if (!is_new) REQUIRE(std::memcmp(place->second.data(), bits.data(), n * sizeof(float)) == 0);
      }
    }
  }
  CHECK(first.size() == most_rows);
}

}  // namespace

TEST_CASE("mma_k16: a row has the same bits for 24 values of M, anywhere, by any kernel of the class") {
  check_class("family == gemm_sm80 and sum_class == mma_k16 and scales == none", 4);
}

TEST_CASE("wgmma_k16: a row has the same bits for 24 values of M, anywhere, by any kernel of the class") {
  check_class("family == gemm_sm90 and sum_class == wgmma_k16 and scales == none", 4);
}

TEST_CASE("fma: a row has the same bits for 24 values of M, anywhere, by any kernel of the class") {
  check_class("family == gemm_simt and sum_class == fma and scales == none", 2);
}
