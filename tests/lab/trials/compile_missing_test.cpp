// What must be compiled before kernels run a problem. Nothing is compiled here.
#include "lab/trials/compile_missing.hpp"

#include <optional>
#include <string>

#include "lab/tune/device_meter.hpp"
#include "lab/tune/problem_lines.hpp"
#include "operations/common/row.hpp"
#include "quarry/quarry.hpp"
#include "registry/device/needed_code.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;

const std::string f64_problem = "gemm 64x64x64 --a f64:col --b f64:row --out f64:row";

Problem problem_of_line(const std::string& line) {
  const Result<Problem> problem = parse_command_text(line);
  INFO(line << ": " << problem.status().message());
  REQUIRE(problem);
  return *problem;
}

/// The first kernel of a problem that is not precompiled for the device.
std::optional<Kernel> missing_kernel(const Problem& problem, const DeviceModel& device) {
  for (const Candidate& each : get_kernels(arguments_of(problem), {}, {.device = &device})) {
    if (!each.precompiled(device.cc)) return each;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("an expression is compiled into the entries that a problem needs") {
  const DeviceModel device = test::device_named("h200");
  const std::optional<Kernel> kernel = missing_kernel(problem_of_line(f64_problem), device);
  if (!kernel) return;  // all are precompiled
  const Kernel kernels[] = {*kernel, *kernel};
  const auto entries_of = [&](const std::string& flags) {
    return missing_entries(kernels, problem_of_line(f64_problem + flags), device);
  };
  const auto without = entries_of("");
  const auto relu = entries_of(" --epilogue 'out = relu(sum)'");
  const auto again = entries_of(" --epilogue 'out = relu(sum)'");
  const auto silu = entries_of(" --epilogue 'out = silu(sum)'");
  REQUIRE(without.size() == 1);
  REQUIRE(relu.size() == 1);
  REQUIRE(silu.size() == 1);
  CHECK(again == relu);
  CHECK(silu != relu);
  const std::string entry(detail::entry_of(without.front()).name);
  CHECK(std::string(detail::entry_of(relu.front()).name).starts_with(entry + "_x"));
}

TEST_CASE("a kernel needs the reduction that follows it, and nothing for a problem that it does not take") {
  const DeviceModel device = test::device_named("h200");
  const HeldArguments cut = arguments_of(
      problem_of_line("gemm 64x64x8192 --a f16:row --b f16:col --out f16:row --mode split_k_parallel"));
  const Result<Candidate> best = find_best(cut, {}, {.device = &device});
  REQUIRE(best);
  const auto needed = detail::needed_code(*best, cut, &device);
  REQUIRE(needed);
  REQUIRE(needed->size() == 2);
  CHECK(needed->front().entry != needed->back().entry);
  const HeldArguments other = arguments_of(problem_of_line(f64_problem));
  CHECK(!detail::needed_code(*best, other, &device));
  const Kernel kernels[] = {*best};
  CHECK(missing_entries(kernels, problem_of_line(f64_problem), device).empty());
}

TEST_CASE("who waits for a problem without kernels to compile, or for one that nobody expected, goes on") {
  const DeviceModel device = test::device_named("h200");
  const Problem expected = problem_of_line(f64_problem);
  CompileAhead ahead({expected}, device, [](const Problem&) { return std::vector<Kernel>(); });
  ahead.wait_for(expected);
  ahead.wait_for(problem_of_line("gemm 65x64x64 --a f64:col --b f64:row --out f64:row"));
}
