// Problems with options of their queries.
#include "lab/problems/query.hpp"

#include "lab/tune/device_meter.hpp"
#include "lab/tune/problem_lines.hpp"
#include "lab/tune/tasks.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using test::h200;

constexpr const char* plain_line = "gemm 7x1024x8192 --a bf16:row --b bf16:col --out bf16:row";

Problem problem_of(const std::string& flags) {
  const Result<Problem> problem = parse_command_text(plain_line + flags);
  INFO(problem.status().message());
  REQUIRE(problem);
  return *problem;
}

}  // namespace

TEST_CASE("a problem keeps its options in its text, with other controls and with another M", "[lab]") {
  for (const char* const flags :
       {"", " --batch-invariant", " --max-workspace 0", " --batch-invariant --max-workspace 4096"}) {
    const Problem problem = problem_of(flags);
    CHECK(command_text(problem) == std::string(plain_line) + flags);
    CHECK(plain_text(problem) == plain_line);
    CHECK(with(Controls{.swizzle = 2}, problem).options == problem.options);
    CHECK(with_m(problem, 9).options == problem.options);
  }
  CHECK(problem_of(" --max-workspace 64M --batch-invariant --swizzle 2").options ==
        detail::QueryOptions{true, 64U << 20});
}

TEST_CASE("options that are wrong are no problem", "[lab]") {
  for (const char* const flags :
       {" --max-workspace", " --max-workspace x", " --max-workspace -1", " --max-workspace 1T",
        " --batch-invariant true", " --max-workspace 9223372036854775808"})
    CHECK(parse_command_text(std::string(plain_line) + flags).status().code() == StatusCode::parse_error);
}

TEST_CASE("bytes have a unit or none", "[lab]") {
  CHECK(*parse_bytes("0") == 0);
  CHECK(*parse_bytes("3K") == 3072);
  CHECK(*parse_bytes("80G") == std::size_t{80} << 30);
  CHECK(*parse_bytes("9223372036854775807") == 9223372036854775807U);
  for (const char* const text : {"", "K", "-1", "1.5M", "9007199254740992K", "1k", "99999999999999999999"})
    CHECK(!parse_bytes(text));
}

TEST_CASE("only kernels that the options allow are measured", "[lab]") {
  const DeviceMeterOptions options = {.bench = {.top = 1000}, .prune = 1e9};
  // Kernels of several classes take it.
  const Problem plain = *parse_command_text("gemm 7x1024x8190 --a bf16:row");
  const auto with_options = [&](const detail::QueryOptions& own) {
    Problem problem = plain;
    problem.options = own;
    return problem;
  };
  const auto measured = [&](const Problem& problem) {
    const auto kernels = kernels_to_measure(problem, options, h200());
    INFO(kernels.status().message());
    REQUIRE(kernels);
    return *kernels;
  };
  const Problem steady = with_options({.batch_invariant = true});
  const auto required = required_class(steady, {}, find_options(steady, {.device = &h200()}));
  REQUIRE(required);
  REQUIRE(*required);
  const auto is_of_class = [&](const Kernel& kernel) {
    return bool(check_class(kernel.metadata(), *required));
  };
  CHECK(std::ranges::all_of(measured(steady), is_of_class));
  CHECK(!std::ranges::all_of(measured(plain), is_of_class));
  const Problem limited = with_options({.max_workspace = 0});
  for (const Kernel& kernel : measured(limited))
    CHECK(candidate_of(kernel, limited, find_options(limited, {.device = &h200()})));
  for (const Kernel& kernel : measured(plain)) {
    const bool is_taken = bool(candidate_of(kernel, steady, find_options(steady, {.device = &h200()})));
    CHECK(is_taken == is_of_class(kernel));
  }
}

TEST_CASE("classes are required of products alone, and of GEMMs that have them", "[lab]") {
  const FindOptions steady = {.device = &h200(), .batch_invariant = true};
  CHECK(!*required_class(problem_of(""), {}, {.device = &h200()}));
  const auto required = [&](const char* line) {
    return required_class(*parse_command_text(line), {}, steady);
  };
  REQUIRE(required("reorder 64x64 --from s8:row --to s8:row32"));
  CHECK(!*required("reorder 64x64 --from s8:row --to s8:row32"));
  CHECK(required("conv2d fprop 1x7x7x512 512x3x3 --a bf16").status().code() == StatusCode::unsupported);
  CHECK(!required("gemm 64x64x64 --a f16:row --split-k 3"));
  // What multiplies nothing is the plain problem whatever the option says.
  CHECK(own_options(*parse_command_text("reorder 64x64 --from s8:row --to s8:row32 --batch-invariant"))
            .is_plain());
}
