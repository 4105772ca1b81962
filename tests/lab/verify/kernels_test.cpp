// Checking many kernels: what is known when a verification ends early.
#include "lab/verify/kernels.hpp"

#include <numeric>
#include <set>
#include <string>

#include "quarry/registry.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

/// Kernels of three result keys.
std::vector<Kernel> some_kernels() {
  std::vector<Kernel> kernels =
      get_kernels(*Filter::parse("family == gemm_simt and a.dtype == b.dtype and (a.dtype == f16 or a.dtype "
                                 "== f32 or a.dtype == f64) and "
                                 "out.dtype == a.dtype and accumulator != f16 and a.layout == row and "
                                 "out.layout == row and scales == none "
                                 "and tile.m == 64"));
  REQUIRE(kernels.size() >= 3);
  return kernels;
}

/// Runs on problems of paths.
std::int64_t met(const PathCounts& paths) {
  return std::accumulate(paths.all().begin(), paths.all().end(), std::int64_t{0},
                         [](std::int64_t sum, const PathCount& path) { return sum + path.met; });
}

}  // namespace

TEST_CASE("kernels are prepared before they run, and no sooner than they must", "[verify]") {
  const std::vector<Kernel> kernels = some_kernels();
  VerifyOptions options;
  options.problems.count = 1;
  std::set<std::string> prepared;
  std::size_t calls = 0;
  bool stops = false;
  options.prepare = [&](std::span<const Kernel> next) {
    ++calls;
    for (const Kernel& kernel : next) prepared.emplace(kernel.name());
  };
  bool all_prepared = true;
  options.passed = [&](const Kernel& kernel, std::int64_t) {
    all_prepared = all_prepared && prepared.contains(std::string(kernel.name()));
    stops = true;
    return Status();
  };
  VerifyRecord record;
  Progress progress("verify", kernels.size());
  SECTION("to the end") {
    const Result<VerifyReport> report = verify_kernels(kernels, options, record, progress);
    REQUIRE(report);
    CHECK(report->right == std::ssize(kernels));
    CHECK(report->problems == std::ssize(kernels));
    CHECK(met(report->paths) == std::ssize(kernels));
    CHECK(prepared.size() == kernels.size());
    CHECK(calls > 1);
  }
  SECTION("stopped after the first of them") {
    options.is_stopped = [&] { return stops; };
    const Result<VerifyReport> report = verify_kernels(kernels, options, record, progress);
    REQUIRE(report);
    CHECK(report->right > 0);  // is known, though most kernels were not prepared
    CHECK(report->left > 0);
    CHECK(report->right + report->left == std::ssize(kernels));
    CHECK(report->problems == report->right);
    CHECK(met(report->paths) == report->right);
    CHECK(calls == 1);
    CHECK(prepared.size() < kernels.size());
  }
  CHECK(all_prepared);
}

TEST_CASE("a verification that is stopped before it begins has met no path", "[verify]") {
  const std::vector<Kernel> kernels = some_kernels();
  VerifyOptions options;
  options.is_stopped = [] { return true; };
  VerifyRecord record;
  Progress progress("verify", kernels.size());
  const Result<VerifyReport> report = verify_kernels(kernels, options, record, progress);
  REQUIRE(report);
  CHECK(report->left == std::ssize(kernels));
  CHECK(report->problems == 0);
  CHECK(met(report->paths) == 0);
  REQUIRE(!report->paths.all().empty());
  CHECK(report->paths.all()[0].kernels == std::ssize(kernels));
}
