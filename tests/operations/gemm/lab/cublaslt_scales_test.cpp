// How scales of operands are told to cuBLASLt, and where it adds up.
#include <random>

#include "lab/problems/fresh_seed.hpp"
#include "operations/gemm/lab/cublaslt_stand_in.hpp"

using namespace quarry;
using namespace quarry::test;

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
