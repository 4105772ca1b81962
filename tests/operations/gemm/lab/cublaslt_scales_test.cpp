// How scales of operands are told to cuBLASLt, and where it adds up.
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/lab/cublaslt_scales.hpp"
#include "operations/gemm/lab/cublaslt_stand_in.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

constexpr YardstickOptions with_blocks = {.block_scales = true};

/// e4m3 to bf16, row-major by column-major, with scales of blocks of 128 of K.
Gemm blocked(std::int64_t m, std::int64_t n, std::int64_t k, ScaleGranularity b_scale) {
  Gemm problem{.m = m, .n = n, .k = k};
  problem.a = {.dtype = DType::e4m3};
  problem.b = {.dtype = DType::e4m3, .layout = Layout::column};
  problem.out = {.dtype = DType::bf16};
  problem.a_scale = ScaleGranularity::block_1x128;
  problem.b_scale = b_scale;
  return problem;
}

}  // namespace

TEST_CASE("cuBLASLt is told scales that it has, and where sums are added up") {
  const std::uint64_t seed = lab::fresh_seed();
  std::mt19937 dice(static_cast<unsigned>(seed));
  using enum ScaleGranularity;
  for (const Layout layout : {Layout::row, Layout::column}) {
    Gemm plain{.m = 5 + static_cast<int>(dice() % 9), .n = 5 + static_cast<int>(dice() % 9), .k = 32};
    plain.a = {.dtype = DType::e4m3};
    plain.b = {.dtype = DType::e4m3, .layout = Layout::column};
    plain.out = {.dtype = DType::bf16, .layout = layout};
    check_solved(plain, seed);
    CHECK(told_fast == 1);
    plain.accumulation = Accumulation::precise;
    check_solved(plain, seed);
    CHECK(told_fast == 0);
    Gemm eight_bits = plain;
    eight_bits.out.dtype = DType::e4m3;
    check_solved(eight_bits, seed);
    Gemm scaled = plain;
    scaled.a_scale = tensor;
    check_solved(scaled, seed);
    scaled.b_scale = tensor;
    check_solved(scaled, seed);
    scaled.a_scale = row;
    scaled.b_scale = column;
    check_solved(scaled, seed);

    // Blocks are not given to it: what is timed is the product without, with promoted sums.
    Gemm blocks = plain;
    blocks.accumulation = Accumulation::fast;
    blocks.a_scale = block_1x128;
    blocks.b_scale = block_128x128;
    CublasLt library = CublasLt::of(stand_in());
    REQUIRE(library.start());
    const auto solved = CublasLtProblem::make(library, blocks);
    REQUIRE(solved);
    CHECK(told_fast == 0);
    CHECK(solved->epilogue() == "plain (blocks of scales are not given to it: one factor, precise sums)");
    CHECK(Lab::command_text(solved->solved().as<Gemm>()) == Lab::command_text(plain));

    Gemm half = scaled;
    half.a.dtype = half.b.dtype = DType::f16;
    CHECK_FALSE(CublasLtProblem::make(library, half));
    scaled.batch = 2;
    CHECK_FALSE(CublasLtProblem::make(library, scaled));
  }
  CHECK(objects == 0);
}

TEST_CASE("cuBLASLt is given blocks of scales where it is asked to take them") {
  const std::uint64_t seed = lab::fresh_seed();
  std::mt19937 dice(static_cast<unsigned>(seed));
  using enum ScaleGranularity;
  for (const ScaleGranularity of_b : {block_1x128, block_128x128}) {
    for (const Layout layout : {Layout::row, Layout::column}) {
      // Several blocks of K and of N, of which the last are short.
      Gemm problem = blocked(4, 132 + 4 * (dice() % 3), (dice() % 2 == 0 ? 257 : 513) + dice() % 40, of_b);
      problem.out = {.dtype = dice() % 2 == 0 ? DType::bf16 : DType::f32, .layout = layout};
      problem.epilogue.alpha = 0.5;
      check_solved(problem, seed, "plain", with_blocks);
      CHECK(told_fast == 0);
      // By rows, the operands are exchanged.
      const int b = layout == Layout::row ? 0 : 1;
      CHECK(told_modes[b] == (of_b == block_1x128 ? lt_scale_block_1x128 : lt_scale_block_128x128));
      CHECK(told_modes[1 - b] == lt_scale_block_1x128);
      problem.epilogue.bias = layout == Layout::row ? BiasAxis::column : BiasAxis::row;
      check_solved(problem, seed, "bias", with_blocks);
    }
  }
  CHECK(objects == 0);
}

TEST_CASE("scales of 128x128 are stored as cuBLASLt reads them, others as they were") {
  using enum ScaleGranularity;
  const auto stored = [](std::int64_t k, ScaleGranularity b_scale) {
    const Gemm problem = blocked(64, 300, k, b_scale);
    GemmArguments arguments = Lab::arguments(problem);
    const TensorView before = *arguments.b_scale;
    lab::gemm::store_scales(problem, arguments);
    const TensorView& after = *arguments.b_scale;
    CHECK(after.extents[0] == before.extents[0]);
    CHECK(after.extents[1] == before.extents[1]);
    return std::pair(after.strides[0], after.strides[1]);
  };
  using Strides = std::pair<std::int64_t, std::int64_t>;
  CHECK(stored(512, block_128x128) == Strides(1, 4));
  CHECK(stored(513, block_128x128) == Strides(1, 8));
  CHECK(stored(100, block_128x128) == Strides(1, 4));
  CHECK(stored(513, block_1x128) == Strides(300, 1));
}

TEST_CASE("blocks of scales that cuBLASLt does not take are refused with the reason") {
  using enum ScaleGranularity;
  CublasLt library = CublasLt::of(stand_in());
  REQUIRE(library.start());
  const auto why = [&](auto change) {
    Gemm problem = blocked(64, 128, 256, block_128x128);
    change(problem);
    INFO(Lab::command_text(problem));
    const auto made = CublasLtProblem::make(library, problem, with_blocks);
    CHECK(made.status().code() == StatusCode::unsupported);
    CHECK(CublasLtProblem::make(library, problem));  // with one factor
    return made.status().message();
  };
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(why([](Gemm& p) { p.a_scale = std::nullopt; }), contains("of A and B together"));
  CHECK_THAT(why([](Gemm& p) { p.a_scale = row; }), contains("of A and B together"));
  CHECK_THAT(why([](Gemm& p) { p.b_scale = column; }), contains("of A and B together"));
  CHECK_THAT(why([](Gemm& p) { p.b_scale = block_1x64; }), contains("blocks of 128 of K"));
  CHECK_THAT(why([](Gemm& p) { p.out.dtype = DType::e4m3; }), contains("no outputs of 8 bits"));
  CHECK_THAT(why([](Gemm& p) { p.m = 66; }), contains("multiples of 4"));
  CHECK_THAT(why([](Gemm& p) { p.n = 127; }), contains("multiples of 4"));

  CublasLtFunctions functions = stand_in();
  functions.version = [] { return std::size_t{120803}; };
  CublasLt old = CublasLt::of(functions);
  REQUIRE(old.start());
  const Gemm problem = blocked(64, 128, 256, block_128x128);
  CHECK(CublasLtProblem::make(old, problem, with_blocks).status().message() ==
        "cuBLASLt is not given the blocks of scales: it takes them from version 12.9 on, and this is 12.8");
  functions = stand_in();
  functions.heuristic = [](CublasLtContext*, CublasLtMatmulDesc*, CublasLtMatrixLayout*,
                           CublasLtMatrixLayout*, CublasLtMatrixLayout*, CublasLtMatrixLayout*,
                           CublasLtPreference*, int, CublasLtOffer*, int*) { return 15; };
  CublasLt without = CublasLt::of(functions);
  REQUIRE(without.start());
  CHECK(CublasLtProblem::make(without, problem, with_blocks).status().message() ==
        "cuBLASLt is not timed: it offers no algorithm with these blocks of scales");
}
