// RunOptions on host tensors: an artifact that is given, checks that are skipped.
#include <algorithm>
#include <cstring>
#include <vector>

#include "lab/problems/operands.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/fake_artifact.hpp"
#include "support/random_gemm.hpp"

using namespace quarry;

namespace {

using Problem = lab::OperandsOf<GemmArguments>;

Problem problem_of(const GemmArguments& shape, std::uint64_t seed) {
  Result<Problem> problem = Problem::make(shape, {.seed = seed});
  REQUIRE(problem);
  return *std::move(problem);
}

std::vector<std::byte> output_of(const GemmArguments& args) {
  const auto* const first = static_cast<const std::byte*>(args.out.data);
  std::int64_t last = 0;
  for (std::size_t i = 0; i < args.out.rank; ++i) last += (args.out.extents[i] - 1) * args.out.strides[i];
  return {first, first + bytes_for(args.out.dtype, last + 1)};
}

}  // namespace

TEST_CASE("a run that assumes that its arguments are supported computes the same", "[run]") {
  const auto seed = GENERATE(1U, 2U, 3U);
  INFO("seed " << seed);
  test::Random random(seed);
  for (int i = 0; i < 40; ++i) {
    const auto layout = [&random] { return test::coin(random) ? Layout::row : Layout::column; };
    const Types types = {DType::f16, DType::f16, DType::f32, DType::f16};
    const GemmArguments shape =
        test::random_shape(random, types, {layout(), layout(), layout()}, {60, 60, 60});
    const CandidateList found = get_kernels(shape, {}, {.limit = 30});
    REQUIRE_FALSE(found.empty());
    const Candidate& candidate = found[random() % found.size()];
    Problem checked = problem_of(shape, seed);
    Problem assumed = problem_of(shape, seed);
    const Result<WorkspaceBuffer> buffer = WorkspaceBuffer::on_host(candidate.workspace());
    REQUIRE(buffer);
    CAPTURE(candidate.name());
    REQUIRE(candidate.run(checked.arguments, {.workspace = *buffer}));
    REQUIRE(candidate.run(assumed.arguments, {.workspace = *buffer, .assume_supported = true}));
    REQUIRE(output_of(checked.arguments) == output_of(assumed.arguments));
  }
}

TEST_CASE("a run that assumes that its arguments are supported makes no check of them", "[run]") {
  // A is less aligned than the kernel needs, which is nothing to the host.
  const Result<Kernel> kernel = make_kernel("gemm_sm80_f16_f16_f32_f16_rrr_64x64x32_w2x2x1_s3_a8x8");
  REQUIRE(kernel);
  Problem problem = problem_of({.a = TensorView::row_major(nullptr, DType::f16, {40, 36}, 36),
                                .b = TensorView::row_major(nullptr, DType::f16, {36, 24}),
                                .out = TensorView::row_major(nullptr, DType::f16, {40, 24})},
                               7);
  const GemmArguments& args = problem.arguments;
  CHECK(kernel->run(args).reason() == Reason::leading_alignment);
  REQUIRE(kernel->run(args, {.assume_supported = true}));
  const std::vector<std::byte> assumed = output_of(args);
  const Result<Kernel> less_aligned = make_kernel("gemm_sm80_f16_f16_f32_f16_rrr_64x64x32_w2x2x1_s3_a4x4");
  REQUIRE(less_aligned);
  REQUIRE(less_aligned->run(args));
  CHECK(assumed == output_of(args));

  GemmArguments fake = args;  // other checks are made
  fake.b.data = nullptr;
  CHECK(kernel->run(fake, {.assume_supported = true}).reason() == Reason::null_data);
}

TEST_CASE("an artifact of another kernel is refused, and one of the kernel is taken", "[run]") {
  Problem problem = problem_of({.a = TensorView::row_major(nullptr, DType::f16, {16, 32}),
                                .b = TensorView::row_major(nullptr, DType::f16, {32, 16}),
                                .out = TensorView::row_major(nullptr, DType::f16, {16, 16})},
                               8);
  const GemmArguments& args = problem.arguments;
  const CandidateList found = get_kernels(args, {}, {.max_workspace = 0});
  REQUIRE(found.size() >= 2);
  const Kernel kernel = found[0];
  const Artifact own = test::fake_artifact(std::string(entry_name(kernel)));
  const Artifact others = test::fake_artifact(std::string(entry_name(found[1])));
  CHECK(kernel.run(args, {.artifact = &own}));
  CHECK(kernel.prepare(args, {.artifact = &own}));
  for (const Status& status : {kernel.run(args, {.artifact = &others}),
                               kernel.run(args, {.artifact = &others, .assume_supported = true}),
                               kernel.prepare(args, {.artifact = &others}).status()}) {
    CHECK(status.code() == StatusCode::invalid_artifact);
    CHECK_THAT(status.message(),
               Catch::Contains("The artifact is code of `" + std::string(entry_name(found[1])) +
                               "`, and kernel `" + std::string(kernel.name()) + "` runs `"));
  }
}
