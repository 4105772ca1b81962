// Tuning without a device: stopping, resuming, budgets, parts, ranges.
#include "lab/tune/tuner.hpp"
#include "lab/tune/problem_key.hpp"

#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include "lab/tune/problem_lines.hpp"
#include "lab/tune/range_parts.hpp"
#include "lab/tune/tables.hpp"
#include "quarry/quarry.hpp"
#include "registry/tuning/index.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/registry_problems.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using detail::TestFolder;
using detail::TuningTable;
using test::h200;

/// Times that are a function of problem and kernel; each problem takes ten seconds.
class MadeUpTimes : public Meter {
 public:
  std::vector<std::string> measured;
  /// Problems with this in their text fail so.
  std::string failing;
  StatusCode failure = StatusCode::unsupported;
  /// Other times for each.
  std::string salt;

  std::vector<std::string> expected;

  void expect(std::vector<Problem> problems) override {
    for (const Problem& each : problems) expected.push_back(command_text(each));
  }
  double now() override { return 10.0 * static_cast<double>(measured.size()); }

  Result<std::vector<KernelTime>> measure(const Problem& problem) override {
    const std::string text = command_text(problem);
    measured.push_back(text);
    if (!failing.empty() && text.find(failing) != text.npos) return Status(failure, "it failed");
    const CandidateList found = get_kernels(arguments_of(problem), {}, {.limit = 6, .device = &h200()});
    if (found.empty()) return found.status();
    std::vector<KernelTime> times;
    for (const Candidate& each : found) {
      const auto hash = detail::digest_of(salt + text + std::string(each.name())).low;
      const double us = 5 + static_cast<double>(hash % 1000) / 100;
      times.push_back({.kernel = std::string(each.name()),
                       .controls = each.controls(),
                       .workspace = each.workspace(),
                       .gaps_us = {us, us, us}});
    }
    return times;
  }
};

std::vector<TuneTask> some_tasks() {
  std::vector<TuneTask> tasks;
  for (const char* text : {"gemm 64x64x64 --a f16:row", "gemm 8x64x128 --a f16:row --b f16:col",
                           "gemm 512x512x512 --a bf16:row", "gemm 33x44x55 --a f32:row",
                           "gemm 64x64x64 --a s8:row --out s32:row", "gemm 100x200x300 --a f64:col"}) {
    tasks.push_back({*parse_command_text(text)});
  }
  tasks.push_back({*parse_command_text("gemm 1x256x256 --a f16:row --b f16:col"), MRange{1, 300}});
  return tasks;
}

TuneSetting setting_for(const std::string& path) {
  TuneSetting setting;
  setting.table = path;
  setting.device = "NVIDIA H200";
  setting.sources = tuning_sources();
  setting.say = [](const std::string&) {};
  return setting;
}

std::string table_text(const std::string& path) {
  const Result<TuningTable> table = read_tuning_table(path);
  REQUIRE(table);
  REQUIRE(table->damaged() == 0);
  return table->text();
}

}  // namespace

TEST_CASE("a tuning that was stopped anywhere goes on, and ends with the same table") {
  const TestFolder folder;
  const auto tasks = some_tasks();
  MadeUpTimes whole;
  const auto done = tune(tasks, whole, setting_for(folder / "whole.jsonl"));
  REQUIRE(done);
  CHECK(done->failed == 0);
  CHECK(done->left == 0);
  CHECK(done->known == 0);
  CHECK(done->measured == whole.measured.size());
  CHECK(done->measured > tasks.size() + 8);
  const std::string expected = table_text(folder / "whole.jsonl");

  std::size_t measured = 0;
  int runs = 0;
  for (bool finished = false; !finished; ++runs) {
    REQUIRE(runs < 100);
    MadeUpTimes some;
    TuneSetting setting = setting_for(folder / "parts.jsonl");
    setting.is_stopped = [&] { return some.measured.size() >= 3; };
    const auto part = tune(tasks, some, setting);
    REQUIRE(part);
    measured += part->measured;
    finished = part->left == 0;
    CHECK(part->is_stopped != finished);
  }
  CHECK(runs > 3);
  CHECK(measured == done->measured);
  CHECK(table_text(folder / "parts.jsonl") == expected);

  MadeUpTimes nothing;
  const auto again = tune(tasks, nothing, setting_for(folder / "whole.jsonl"));
  REQUIRE(again);
  CHECK(again->known == tasks.size());
  CHECK(nothing.measured.empty());
  TuneSetting anew = setting_for(folder / "whole.jsonl");
  anew.again = true;
  anew.date = [] { return std::int64_t{7}; };
  const auto second = tune(tasks, nothing, anew);
  REQUIRE(second);
  CHECK(second->measured == done->measured);
}

TEST_CASE("a budget ends a tuning, and the estimate says how long the rest takes") {
  const TestFolder folder;
  std::vector<TuneTask> plain = some_tasks();
  plain.pop_back();
  MadeUpTimes meter;
  TuneSetting setting = setting_for(folder / "table.jsonl");
  setting.budget_seconds = 25;
  std::vector<TuneProgress> shown;
  setting.progress = [&](const TuneProgress& progress) { shown.push_back(progress); };
  const auto part = tune(plain, meter, setting);
  REQUIRE(part);
  CHECK(part->measured == 3);  // one begins after 20 seconds, none after 30
  CHECK(part->left == plain.size() - 3);
  CHECK(part->is_over_budget);
  REQUIRE(shown.size() == 4);
  CHECK(!shown[0].seconds_left);
  CHECK(shown[1].seconds_left == 10.0 * static_cast<double>(plain.size() - 1));
  MadeUpTimes none;
  setting.budget_seconds = 0;
  const auto nothing = tune(plain, none, setting);
  REQUIRE(nothing);
  CHECK(nothing->measured == 0);
  CHECK(nothing->has_nothing());
  CHECK(!part->has_nothing());
  setting.table = folder / "none.jsonl";
  REQUIRE(tune(plain, none, setting)->has_nothing());
  CHECK(access(setting.table.c_str(), F_OK) != 0);
}

TEST_CASE("a range shows each of its values, and expects those that it is likely to measure") {
  const TestFolder folder;
  const std::vector<TuneTask> range = {
      {*parse_command_text("gemm 1x256x256 --a f16:row --b f16:col"), MRange{1, 300}}};
  MadeUpTimes meter;
  TuneSetting setting = setting_for(folder / "table.jsonl");
  std::vector<std::string> shown;
  setting.progress = [&](const TuneProgress& progress) {
    if (!progress.last_value) return;
    CHECK(progress.done == 0);
    CHECK(progress.all == 1);
    shown.push_back(command_text(*progress.last_value));
    CHECK(progress.values == shown.size());
  };
  REQUIRE(tune(range, meter, setting));
  CHECK(shown == meter.measured);
  REQUIRE(meter.expected.size() == likely_probes(*range[0].m).size());
  for (std::size_t i = 0; i < first_probes(*range[0].m); ++i) CHECK(meter.expected[i] == meter.measured[i]);
}

TEST_CASE("a table of a range answers for each of its M, whatever their alignments") {
  const MRange range = {1, 300};
  for (const char* text :
       {"gemm 1x256x256 --a f16:col --b f16:col", "gemm 1x256x256 --a f16:row --out f32:col",
        "gemm 1x256x256 --a f16:row --b f16:col"}) {
    const TestFolder folder;
    const Problem problem = *parse_command_text(text);
    const Result<RangeParts> parts = parts_of(problem, range);
    REQUIRE(parts);
    std::vector<TuneTask> tasks;
    for (const MRange& part : parts->parts) tasks.push_back({with_m(problem, *nearest_in(part, 1)), part});
    MadeUpTimes meter;
    const TuneSetting setting = setting_for(folder / "table.jsonl");
    const auto done = tune(tasks, meter, setting);
    REQUIRE(done);
    CHECK(done->failed == 0);
    const auto table = read_tuning_table(setting.table);
    REQUIRE(table);
    CHECK(missing_tasks(tasks, *table, "", tuning_sources()).empty());
    const detail::TuningIndex index(*table, setting.sources);
    const detail::Digest device = detail::tuning_device_digest(setting.device);
    for (std::int64_t m = range.low; m <= range.high; ++m) {
      INFO(text << " with M of " << m);
      const Problem each = with_m(problem, m);
      const auto choices = index.find(device, *problem_key(each));
      REQUIRE(!choices.empty());
      // What was measured takes the problem, as all of its alignment do.
      const auto kernel = find_kernel(index.kernels()[choices.front().kernel].name);
      REQUIRE(kernel);
      REQUIRE(candidate_of(*kernel, arguments_of(each), {.device = &h200()}));
    }
  }
}

TEST_CASE("the union of all parts is the whole") {
  const TestFolder folder;
  const auto tasks = some_tasks();
  MadeUpTimes meter;
  REQUIRE(tune(tasks, meter, setting_for(folder / "whole.jsonl")));
  std::vector<std::string> paths;
  for (std::size_t index = 0; index < 3; ++index) {
    paths.push_back(folder / ("part" + std::to_string(index) + ".jsonl"));
    MadeUpTimes own;
    REQUIRE(tune(tasks_in(tasks, {index, 3}), own, setting_for(paths.back())));
    if (own.measured.empty()) std::ofstream(paths.back()) << "";
  }
  OddLines odd;
  const auto merged = merge_tables(paths, folder / "merged.jsonl", odd);
  REQUIRE(merged);
  CHECK(merged->text() == table_text(folder / "whole.jsonl"));
  CHECK(missing_tasks(tasks, *merged, "", tuning_sources()).empty());
  // A part that was lost.
  const auto rest = merge_tables(std::span(paths).first(2), folder / "rest.jsonl", odd);
  REQUIRE(rest);
  std::set<std::string> missing;
  for (const TuneTask& task : missing_tasks(tasks, *rest, "", tuning_sources()))
    missing.insert(task_text(task));
  std::set<std::string> lost;
  for (const TuneTask& task : tasks_in(tasks, {2, 3})) lost.insert(task_text(task));
  CHECK(missing == lost);
  CHECK(missing_tasks(tasks, *merged, "NVIDIA H100 80GB HBM3", tuning_sources()).size() == tasks.size());
  CHECK(missing_tasks(tasks, *merged, "", "other sources").size() == tasks.size());
}

TEST_CASE("a range that any one device has measured is not missing, whatever others measured") {
  const TestFolder folder;
  const std::vector<TuneTask> range = {
      {*parse_command_text("gemm 1x256x256 --a f16:row --b f16:col"), MRange{1, 300}}};
  for (const char* device : {"NVIDIA H200", "NVIDIA H100 80GB HBM3"}) {
    MadeUpTimes meter;
    meter.salt = device;  // other winners, so that other values of M are asked for
    TuneSetting setting = setting_for(folder / "table.jsonl");
    setting.device = device;
    REQUIRE(tune(range, meter, setting));
    const auto table = read_tuning_table(folder / "table.jsonl");
    REQUIRE(table);
    CHECK(missing_tasks(range, *table, "", tuning_sources()).empty());
    CHECK(missing_tasks(range, *table, device, tuning_sources()).empty());
  }
}

TEST_CASE("a problem that fails is said, and the others are measured") {
  const TestFolder folder;
  const auto tasks = some_tasks();
  MadeUpTimes meter;
  meter.failing = "512x512x512";
  std::string said;
  TuneSetting setting = setting_for(folder / "table.jsonl");
  setting.say = [&](const std::string& text) { said += text + "\n"; };
  const auto done = tune(tasks, meter, setting);
  REQUIRE(done);
  CHECK(done->failed == 1);
  CHECK(done->left == 0);
  CHECK(said == "512x512x512: it failed\n");
  CHECK(missing_tasks(tasks, *read_tuning_table(folder / "table.jsonl"), "", tuning_sources()).size() == 1);
  // A device that failed twice is gone.
  meter.failing = "x64x";
  meter.failure = StatusCode::device_error;
  const auto gone = tune(tasks, meter, setting_for(folder / "other.jsonl"));
  CHECK(gone.status().code() == StatusCode::device_error);
}

TEST_CASE("a table that cannot be written ends a tuning") {
  MadeUpTimes meter;
  const auto tasks = some_tasks();
  CHECK(tune(tasks, meter, setting_for("/dev/full")).status().code() == StatusCode::file_error);
  const TestFolder folder;
  std::ofstream(folder / "foreign") << "[1]\n";
  MadeUpTimes none;
  CHECK(tune(tasks, none, setting_for(folder / "foreign")).status().code() == StatusCode::parse_error);
  CHECK(none.measured.empty());
}

TEST_CASE("operations without tuned kernels are refused") {
  CHECK(check_tuned(Operation::gemm));
  CHECK(check_tuned(Operation::reorder).code() == StatusCode::parse_error);
}
