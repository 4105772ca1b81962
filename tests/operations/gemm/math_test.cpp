// What may be done to f32 operands: which kernels a problem's `math` admits, and how exact they are.
#include <cmath>
#include <limits>
#include <set>

#include "basic/numbers.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "lab/reference/tolerance.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;

namespace {

constexpr Math all_math[] = {Math::exact, Math::fast_tf32, Math::fast_f32, Math::fast_f16, Math::fast_bf16};

std::set<Math> found_math(const GemmArguments& args) {
  std::set<Math> found;
  for (const Candidate& candidate : get_kernels(args)) found.insert(candidate.metadata().design.math);
  return found;
}

/// The relative error of the best kernel of a math on host tensors.
double error_of(Math math, int k) {
  GemmArguments shape = test::plain_problem(48, 40, k, DType::f32);
  shape.math = math;
  Result<lab::OperandsOf<GemmArguments>> problem = lab::OperandsOf<GemmArguments>::make(shape, {.seed = 7});
  REQUIRE(problem);
  const Result<lab::Reference> reference = lab::compute_reference(problem->arguments);
  REQUIRE(reference);
  const Result<Filter> filter = Filter::parse("math == " + std::string(to_string(math)));
  REQUIRE(filter);
  const CandidateList found = get_kernels(problem->arguments, *filter, {.max_workspace = 0});
  REQUIRE(!found.empty());
  REQUIRE(found.front().run(problem->arguments));
  const lab::Comparison compared =
      lab::compare(*reference, problem->arguments, lab::tolerance(found.front().metadata(), k));
  CHECK(compared.within());
  return compared.error;
}

}  // namespace

TEST_CASE("math: exact kernels always qualify, others where they are asked for", "[math]") {
  for (const Math math : all_math) {
    INFO(to_string(math));
    GemmArguments args = test::plain_problem(256, 256, 256, DType::f32);
    args.math = math;
    CHECK(found_math(args) == std::set<Math>{Math::exact, math});
  }
}

TEST_CASE("math: operands that are not f32 are never touched", "[math]") {
  for (const DType type : {DType::f16, DType::bf16, DType::f64}) {
    GemmArguments args = test::plain_problem(256, 256, 256, type);
    const std::size_t exact = get_kernels(args).matched();
    args.math = Math::fast_tf32;
    CHECK(get_kernels(args).matched() == exact);
  }
}

TEST_CASE("math: a kernel refuses a problem that does not allow what it does", "[math]") {
  const Result<Kernel> kernel =
      find_kernel("gemm_sm80_f32_f32_f32_f32_rcr_128x128x32_w2x2x1_s3_fast_tf32_a4x4");
  REQUIRE(kernel);
  GemmArguments args = test::plain_problem(256, 256, 256, DType::f32);
  CHECK(kernel->supports(args).message() == "Math is unsupported: expected fast_tf32, got exact");
  args.math = Math::fast_bf16;
  CHECK(kernel->supports(args).message() == "Math is unsupported: expected fast_tf32, got fast_bf16");
  args.math = Math::fast_tf32;
  CHECK(kernel->supports(args));
}

TEST_CASE("math: a number that names none is refused", "[math]") {
  GemmArguments args = test::plain_problem(64, 64, 64, DType::f32);
  args.math = static_cast<Math>(77);
  const CandidateList found = get_kernels(args);
  CHECK(found.empty());
  CHECK(found.status().code() == StatusCode::invalid_arguments);
  CHECK(found.status().message() == "There is no math of number 77");
}

TEST_CASE("math: errors are what the types give", "[math]") {
  constexpr int k = 4096;
  const double f32 = error_of(Math::exact, k);
  CHECK(error_of(Math::fast_f32, k) <= 2 * f32);
  const double tf32 = error_of(Math::fast_tf32, k);
  CHECK(tf32 > 20 * f32);
  CHECK(tf32 < 0x1p-10);
  CHECK(error_of(Math::fast_f16, k) < 0x1p-10);
  const double bf16 = error_of(Math::fast_bf16, k);
  CHECK(bf16 > 2 * tf32);
  CHECK(bf16 < 0x1p-7);
}

TEST_CASE("tf32: 11 bits, ties to even", "[math]") {
  CHECK(host::f32_to_tf32(1 + 0x1p-11F) == 1);
  CHECK(host::f32_to_tf32(-1 - 0x1p-11F) == -1);
  CHECK(host::f32_to_tf32(1 + 0x1p-10F + 0x1p-11F) == 1 + 0x1p-9F);
  CHECK(host::f32_to_tf32(1 + 0x1p-11F + 0x1p-23F) == 1 + 0x1p-10F);
  CHECK(host::f32_to_tf32(1 + 0x1p-11F - 0x1p-23F) == 1);
  CHECK(host::f32_to_tf32(0x1.fffp127F) == std::numeric_limits<float>::infinity());
  CHECK(host::f32_to_tf32(-std::numeric_limits<float>::infinity()) ==
        -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(host::f32_to_tf32(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(host::f32_to_tf32(std::bit_cast<float>(0x7f800001U))));
  CHECK(std::signbit(host::f32_to_tf32(-0.0F)));
}

TEST_CASE("tf32: the host rounds operands as kernels of both families do", "[math]") {
  GemmArguments shape = {.a = TensorView::row_major(nullptr, DType::f32, {64, 32}),
                         .b = TensorView::column_major(nullptr, DType::f32, {32, 64}),
                         .out = TensorView::row_major(nullptr, DType::f32, {64, 64})};
  shape.math = Math::fast_tf32;
  constexpr float expected = 1 + 0x1p-10F;
  for (const char* const family : {"gemm_sm90", "gemm_sm80"}) {
    INFO(family);
    std::vector<float> a(64 * 32, 1 + 0x1p-10F - 0x1p-23F), b(32 * 64), out(64 * 64, -1);
    for (std::size_t i = 0; i < 32; ++i) b[i * 32 + i] = 1;  // an identity, then columns of 0
    GemmArguments args = shape;
    args.a.data = a.data();
    args.b.data = b.data();
    args.out.data = out.data();
    const auto filter = Filter::parse("math == fast_tf32 and family == " + std::string(family));
    REQUIRE(filter);
    const CandidateList found = get_kernels(args, *filter);
    REQUIRE_FALSE(found.empty());
    REQUIRE(found.front().run(args));
    for (std::size_t i = 0; i < out.size(); ++i) REQUIRE(out[i] == (i % 64 < 32 ? expected : 0));
  }
}
