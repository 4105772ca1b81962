// Warm-ups as far as they need neither a device nor a compiler: what is gathered, counted and refused. The
// tests of the command compile.
#include "quarry/warm_up.hpp"

#include "quarry/gemm.hpp"
#include "quarry/system.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

using namespace quarry;

namespace {

/// Takes no kernel.
Filter none() {
  return Filter([](const KernelMetadata&) { return false; });
}

const WarmUpOptions nothing_loaded = {.device = -1};

}  // namespace

TEST_CASE("a warm-up of nothing is done at once") {
  const WarmUpReport report = warm_up({}, nothing_loaded);
  CHECK(report.ready() == 0);
  CHECK(report.failures.empty());
}

TEST_CASE("a warm-up lists each problem that no kernel takes, and why") {
  const GemmArguments good = test::plain_problem(64, 64, 64);
  GemmArguments bad = good;
  bad.b.extents[0] = 63;
  const Arguments problems[] = {good, bad, good};
  const WarmUpReport report = warm_up(problems, nothing_loaded, none());
  CHECK(report.ready() == 0);
  REQUIRE(report.failures.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(report.failures[i].problem == i);
    CHECK(report.failures[i].kernel.empty());
  }
  CHECK(report.failures[0].status.code() == StatusCode::filtered_out);
  CHECK(report.failures[1].status.code() == StatusCode::invalid_arguments);
  CHECK(report.failures[2].status.message() == report.failures[0].status.message());
}

TEST_CASE("a warm-up takes options for each problem") {
  const GemmArguments problem = test::plain_problem(64, 64, 8192);
  const Arguments problems[] = {problem, problem};
  const DeviceModel device = test::device_named("h200");
  GemmArguments cut = problem;
  cut.controls.split_k_slices = 3;
  const Arguments both[] = {cut, cut};
  const FindOptions find[] = {{.device = &device}, {.device = &device, .batch_invariant = true}};
  const WarmUpReport report = warm_up_each(both, find, nothing_loaded, none());
  REQUIRE(report.failures.size() == 2);
  CHECK(report.failures[0].status.code() == StatusCode::filtered_out);
  CHECK(report.failures[1].status.message().find("K in one piece") != std::string::npos);
  // Of another number.
  const WarmUpReport few = warm_up_each(problems, std::span(find).first(1), nothing_loaded);
  REQUIRE(few.failures.size() == 2);
  CHECK(few.failures[1].status.message() == "A warm-up takes options for each problem: expected 2, got 1");
  CHECK(warm_up_each({}, std::span<const FindOptions>(), nothing_loaded).failures.empty());
}

TEST_CASE("a warm-up on a device that is not there fails for each problem") {
  if (cuda_status(63)) return;
  const GemmArguments problem = test::plain_problem(64, 64, 64);
  const Arguments problems[] = {problem, problem};
  const WarmUpReport report = warm_up(problems, {.device = 63});
  REQUIRE(report.failures.size() == 2);
  for (const WarmUpFailure& failure : report.failures) CHECK(failure.status.code() == StatusCode::no_device);
}

TEST_CASE("a warm-up for a model that is not complete fails with a message") {
  const DeviceModel incomplete = {};
  const GemmArguments problem = test::plain_problem(64, 64, 64);
  const Arguments problems[] = {problem};
  const WarmUpReport report = warm_up(problems, nothing_loaded, {}, {.device = &incomplete});
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures[0].status.code() == StatusCode::invalid_arguments);
}

TEST_CASE(
    "precompiled kernels are counted once for all problems that they are first for, and progress says so") {
  const DeviceModel device = test::device_named("h200");
  const FindOptions precompiled = {.availability = Availability::precompiled, .device = &device};
  GemmArguments cut = test::plain_problem(64, 64, 8192);
  cut.controls = {.mode = Mode::split_k_parallel, .split_k_slices = 4};
  const GemmArguments plain = test::plain_problem(64, 64, 64);
  if (!find_best(plain, {}, precompiled) || !find_best(cut, {}, precompiled)) return;  // few are precompiled
  const Arguments problems[] = {plain, plain, cut};
  std::size_t steps = 0;
  std::size_t total = 0;
  WarmUpOptions options = {.device = -1, .threads = 2};
  options.progress = [&](std::size_t done, std::size_t all) {
    CHECK(done == ++steps);
    total = all;
  };
  const WarmUpReport report = warm_up(problems, options, {}, precompiled);
  CHECK(report.ready() + report.failures.size() == total);
  CHECK(steps == total);
  // The kernel of the plain problem, the kernel of the other one, and its reduction.
  CHECK(total >= 2);
  CHECK(total <= 3);
}
