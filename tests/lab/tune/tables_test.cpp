// What tables choose, as people and packs see it: the same as queries.
#include "lab/tune/tables.hpp"

#include <string>
#include <vector>

#include "lab/tune/problem_lines.hpp"
#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"
#include "support/tuned_problems.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using detail::Measurement;
using test::h200;

/// The kernels of a problem on an H200, as measured: later ones are faster.
std::vector<Measurement> measurements_of(const std::string& text) {
  const Result<Problem> problem = parse_command_text(text);
  REQUIRE(problem);
  const CandidateList found = get_kernels(arguments_of(*problem), {}, {.limit = 4, .device = &h200()});
  REQUIRE(!found.empty());
  std::vector<Measurement> all;
  for (const Candidate& each : found) {
    all.push_back(test::measured(arguments_of(*problem), each, 20 - static_cast<double>(all.size())));
    all.back().problem = command_text(*problem);
  }
  return all;
}

detail::TuningTable table_of(const std::vector<Measurement>& measurements) {
  detail::TuningTable table;
  for (const Measurement& each : measurements) table.add(each);
  return table;
}

}  // namespace

TEST_CASE("a row of a table is the choice that a query makes") {
  for (const char* kernel : {"gemm_that_was_removed", "gemm_simt_f64_f64_f64_f64_rrr_32x32x16_t2x2"}) {
    std::vector<Measurement> all = measurements_of("gemm 64x256x256 --a f16:row --b f16:col");
    const std::string winner = all.back().kernel;
    all.push_back(all.front());
    all.back().kernel = kernel;
    all.back().gaps_us = {1, 1, 1};
    const std::vector<TunedRow> rows = tuned_rows(table_of(all));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].kernel == winner);
    CHECK(rows[0].usable);
    const std::vector<ChosenKernel> chosen = chosen_kernels(table_of(all));
    REQUIRE(chosen.size() == 1);
    CHECK(chosen[0].kernel.name() == winner);
    // Alone, it is shown, and not used.
    const std::vector<TunedRow> alone = tuned_rows(table_of({all.back()}));
    REQUIRE(alone.size() == 1);
    CHECK(alone[0].kernel == kernel);
    CHECK(!alone[0].usable);
    CHECK(chosen_kernels(table_of({all.back()})).empty());
  }
}

TEST_CASE("kernels of every operation that is tuned are chosen") {
  for (const char* text :
       {"gemm 64x256x256 --a f16:row --b f16:col", "gemm 64x256x8192 --a f16:row --b f16:col --split-k 4",
        "conv2d fprop 8x14x14x64 64x3x3 --padding 1 --a bf16:row --b bf16:row --out bf16:row",
        "grouped_gemm 4x256x256 --a bf16:row --b bf16:col --tokens 256"}) {
    CAPTURE(text);
    const std::vector<Measurement> all = measurements_of(text);
    const std::vector<TunedRow> rows = tuned_rows(table_of(all));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].kernel == all.back().kernel);
    CHECK(rows[0].usable);
  }
}

TEST_CASE("a kernel is chosen once for each expression, whatever the sizes") {
  const std::string flags = " --a f16:row --b f16:col --out f16:row";
  const std::string relu = " --epilogue 'out = relu(sum + bias)' --with bias=f32:per_column";
  const std::string gelu = " --epilogue 'out = gelu(sum)'";
  std::vector<Measurement> all;
  std::string kernel;
  for (const std::string& text :
       {"gemm 64x256x256" + flags, "gemm 128x256x256" + flags, "gemm 64x256x256" + flags + relu,
        "gemm 128x256x256" + flags + relu, "gemm 64x256x256" + flags + gelu}) {
    // The same kernel for all of them.
    const Result<Problem> problem = parse_command_text(text);
    REQUIRE(problem);
    if (kernel.empty()) kernel = measurements_of(text + relu).front().kernel;
    const Result<Kernel> found = find_kernel(kernel);
    REQUIRE(found);
    const Result<Candidate> candidate = candidate_of(*found, arguments_of(*problem), {.device = &h200()});
    REQUIRE(candidate);
    all.push_back(test::measured(arguments_of(*problem), *candidate, 5));
    all.back().problem = command_text(*problem);
  }
  const std::vector<ChosenKernel> chosen = chosen_kernels(table_of(all));
  REQUIRE(chosen.size() == 3);
  int plain = 0;
  for (const ChosenKernel& each : chosen) {
    CHECK(each.kernel.name() == kernel);
    plain += !each.problem;
  }
  CHECK(plain == 1);
}

TEST_CASE("measurements that are not used count under their first reason") {
  std::vector<Measurement> all = measurements_of("gemm 64x256x256 --a f16:row --b f16:col");
  REQUIRE(all.size() == 4);
  all[0].sources = "elsewhere";
  all[1].kernel = "gemm_that_was_removed";
  all[2].kernel = "gemm_that_was_removed";
  all[2].sources = "elsewhere";
  const UnusableMeasurements unusable = unusable_in(table_of(all));
  CHECK(unusable.other_sources == 2);
  CHECK(unusable.unknown_kernels == 1);
}
