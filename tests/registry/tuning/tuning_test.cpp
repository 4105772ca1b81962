// Queries with tuning tables.
#include "quarry/tuning.hpp"

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "quarry/quarry.hpp"
#include "registry/tuning/table_file.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/loaded_table.hpp"
#include "support/registry_problems.hpp"
#include "support/tuned_problems.hpp"

namespace {

using namespace quarry;
using detail::Measurement;
using detail::TestFolder;
using test::load;
using test::measured;
using test::Random;

using test::h200;
using test::on_h200;

void check_first(const GemmArguments& args, const Measurement& expected) {
  const CandidateList list = get_kernels(args, {}, on_h200());
  const Result<Candidate> best = find_best(args, {}, on_h200());
  REQUIRE(!list.empty());
  REQUIRE(best);
  for (const Candidate* first : {&list.front(), &*best}) {
    CHECK(first->name() == expected.kernel);
    CHECK(first->controls().mode == expected.controls.mode);
    CHECK(first->controls().split_k_slices == expected.controls.split_k_slices);
    CHECK(first->controls().swizzle == expected.controls.swizzle);
    CHECK(first->controls().raster == expected.controls.raster);
    REQUIRE(first->measured_seconds());
    CHECK(*first->measured_seconds() == Approx(expected.gaps_us[1] * 1e-6));
    CHECK(first->predicted_seconds() > 0);
  }
}

}  // namespace

TEST_CASE("the measured winner comes first, and the others as before") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(512, 768, 1024);
  const CandidateList before = get_kernels(args, {}, on_h200());
  const Result<Candidate> best_before = find_best(args, {}, on_h200());  // and remembered
  REQUIRE(before.size() > 20);
  REQUIRE(best_before);
  CHECK(!best_before->measured_seconds());
  const Measurement winner = measured(args, before[17], 3);
  const TuningSummary summary = load({measured(args, before[0], 5), winner, measured(args, before[9], 4)});
  CHECK(summary.usable == 3);
  CHECK(summary.skipped() == 0);
  check_first(args, winner);
  check_first(args, winner);  // remembered
  const CandidateList after = get_kernels(args, {}, on_h200());
  CHECK(after.size() == before.size());
  CHECK(after.matched() == before.matched());
  std::vector<std::string_view> expected = {before[17].name()};
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (i != 17) expected.push_back(before[i].name());
  }
  for (std::size_t i = 0; i < after.size(); ++i) REQUIRE(after[i].name() == expected[i]);
  CHECK(!after[1].measured_seconds());
  // Another table changes what was remembered.
  const Measurement faster = measured(args, before[30], 2);
  load({faster});
  check_first(args, faster);
  clear_tuning();
  CHECK(find_best(args, {}, on_h200())->name() == best_before->name());
}

TEST_CASE("a filter, a limit of workspace or an order passes over measured kernels") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(64, 64, 8192);
  const CandidateList before = get_kernels(args, {}, on_h200());
  const Candidate* with_workspace = nullptr;
  const Candidate* without = nullptr;
  for (const Candidate& each : before) {
    if (each.workspace() > 0 && with_workspace == nullptr) with_workspace = &each;
    if (each.workspace() == 0) without = &each;
  }
  REQUIRE(with_workspace != nullptr);
  REQUIRE(without != nullptr);
  const Measurement fast = measured(args, *with_workspace, 2);
  const Measurement slow = measured(args, *without, 3);
  load({fast, slow});
  check_first(args, fast);
  FindOptions options = on_h200();
  options.max_workspace = 0;
  CHECK(find_best(args, {}, options)->name() == slow.kernel);
  CHECK(find_best(args, {}, options)->measured_seconds());
  const Result<Filter> others =
      Filter::parse("name != '" + fast.kernel + "' and name != '" + slow.kernel + "'");
  REQUIRE(others);
  CHECK(!find_best(args, *others, on_h200())->measured_seconds());
  CHECK(!get_kernels(args, *others, on_h200()).front().measured_seconds());
  options = on_h200();
  options.order = Order::registry;
  for (const Candidate& each : get_kernels(args, {}, options)) REQUIRE(!each.measured_seconds());
  options = on_h200();
  options.limit = 0;
  CHECK(get_kernels(args, {}, options).empty());
  options.limit = 2;
  CHECK(get_kernels(args, {}, options).size() == 2);
  GemmArguments with_controls = args;
  with_controls.controls.swizzle = 2;
  CHECK(!find_best(with_controls, {}, on_h200())->measured_seconds());
}

TEST_CASE("a measured kernel is found behind any number of faster ones that the caller does not want") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(512, 768, 1024);
  const CandidateList before = get_kernels(args, {}, on_h200());
  REQUIRE(before.size() > 40);
  std::vector<Measurement> measurements;
  for (std::size_t i = 0; i < 40; ++i)
    measurements.push_back(measured(args, before[i], 2 + static_cast<double>(i)));
  load(measurements);
  const Result<Filter> last = Filter::parse("name == '" + std::string(before[39].name()) + "'");
  REQUIRE(last);
  CHECK(find_best(args, *last, on_h200())->measured_seconds() == Approx(41e-6));
}

TEST_CASE("controls that the caller fixed stay, whatever a table says") {
  const test::WithoutTuning none;
  GemmArguments args = test::plain_problem(512, 512, 4096);
  args.controls.mode = Mode::gemm;
  args.controls.swizzle = 2;
  const CandidateList before = get_kernels(args, {}, on_h200());
  Controls foreign = before[3].controls();
  foreign.swizzle = 8;
  const Measurement other_swizzle = measured(args, before[3], foreign, 2);
  foreign.mode = Mode::split_k_parallel;
  foreign.split_k_slices = 4;
  load({measured(args, before[2], foreign, 1), other_swizzle});
  const Result<Candidate> best = find_best(args, {}, on_h200());
  REQUIRE(best);
  CHECK(best->name() == before[3].name());
  CHECK(best->controls().mode == Mode::gemm);
  CHECK(best->controls().swizzle == 2);
}

TEST_CASE("a measurement counts for its problem alone, or for its interval of M") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(256, 512, 512);
  const CandidateList before = get_kernels(args, {}, on_h200());
  Measurement interval = measured(args, before[5], 3);
  interval.above = 128;
  load({interval});
  check_first(args, interval);
  const auto is_measured = [](const GemmArguments& other) {
    const Result<Candidate> best = find_best(other, {}, on_h200());
    REQUIRE(best);
    return best->measured_seconds().has_value();
  };
  CHECK(is_measured(test::plain_problem(200, 512, 512)));
  CHECK(is_measured(test::plain_problem(129, 512, 512)));
  CHECK(!is_measured(test::plain_problem(128, 512, 512)));
  CHECK(!is_measured(test::plain_problem(257, 512, 512)));
  CHECK(!is_measured(test::plain_problem(256, 520, 512)));
  CHECK(!is_measured(test::plain_problem(256, 512, 504)));
  CHECK(!is_measured(test::plain_problem(256, 512, 512, DType::bf16)));
  GemmArguments other = args;
  other.epilogue.activation = Activation::relu;
  CHECK(!is_measured(other));
  other = args;
  other.epilogue.bias = TensorView::vector(nullptr, DType::f16, 512);
  CHECK(!is_measured(other));
  other = args;
  other.a.assumed_alignment = 2;
  CHECK(!is_measured(other));
  other = args;  // lines that begin elsewhere in L2: what kernels do is the same
  other.a = TensorView::row_major(nullptr, DType::f16, {256, 512}, 520);
  CHECK(is_measured(other));
  FindOptions h100 = on_h200();
  const DeviceModel model = test::device_named("h100");
  h100.device = &model;
  CHECK(!find_best(args, {}, h100)->measured_seconds());
  // The driver's name stands for the same device.
  DeviceModel real = h200();
  std::string_view(test::h200_name).copy(real.name, sizeof real.name - 1);
  h100.device = &real;
  CHECK(find_best(args, {}, h100)->measured_seconds());
}

TEST_CASE("a kernel is passed over that was measured in a mode which it does not permit") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(512, 512, 4096);
  const CandidateList before = get_kernels(args, {}, on_h200());
  const auto without = [&](bool ModesMetadata::*mode) {
    const auto found =
        std::ranges::find_if(before, [&](const Candidate& each) { return !(each.metadata().modes.*mode); });
    REQUIRE(found != before.end());
    return *found;
  };
  const Measurement walk = measured(args, without(&ModesMetadata::stream_k), {.mode = Mode::stream_k}, 1);
  const Measurement cut = measured(args, without(&ModesMetadata::split_k_serial),
                                   {.mode = Mode::split_k_serial, .split_k_slices = 4}, 2);
  const Measurement possible = measured(args, before[7], 3);
  load({walk, cut, possible});
  check_first(args, possible);
}

TEST_CASE("no measured kernel comes first that does not support the problem") {
  const test::WithoutTuning none;
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  std::vector<GemmArguments> problems;
  std::vector<Measurement> table;
  const auto kernels = get_kernels();
  for (int i = 0; i < 150; ++i) {
    const GemmArguments args = test::problem_for(random, test::any_row(random));
    if (get_kernels(args, {}, on_h200()).empty()) continue;
    problems.push_back(args);
    for (int j = 0; j < 4; ++j) {
      // Any kernel with any controls; and one of the problem's types.
      const Kernel kernel =
          test::coin(random) ? kernels[random() % kernels.size()] : Kernel(test::any_row(random));
      table.push_back(
          measured(args, kernel, test::random_controls(random), 1 + static_cast<double>(random() % 9)));
    }
    const CandidateList list = get_kernels(args, {}, on_h200());
    if (test::coin(random)) table.push_back(measured(args, list[random() % list.size()], 20));
  }
  load(table);
  std::size_t tuned = 0;
  for (const GemmArguments& args : problems) {
    const Result<Candidate> best = find_best(args, {}, on_h200());
    REQUIRE(best);
    GemmArguments chosen = args;
    chosen.controls = best->controls();
    chosen.controls.multiprocessors = args.controls.multiprocessors;
    const Result<Candidate> again = candidate_of(*best, chosen, on_h200());
    INFO(best->name() << ": " << again.status().message());
    REQUIRE(again);
    CHECK(again->workspace() == best->workspace());
    tuned += best->measured_seconds().has_value();
    REQUIRE(get_kernels(args, {}, on_h200()).front().name() == best->name());
  }
  CHECK(tuned > 0);
}

TEST_CASE("what cannot be used is skipped and counted") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(96, 96, 96);
  const CandidateList before = get_kernels(args, {}, on_h200());
  const Measurement good = measured(args, before[3], 9);
  Measurement other_sources = measured(args, before[4], 1);
  other_sources.sources = "elsewhere";
  Measurement unknown = measured(args, before[5], 2);
  unknown.kernel = "gemm_sm80_that_was_removed";
  const TestFolder folder;
  const std::string path = folder / "table.jsonl";
  REQUIRE(detail::append_to_table(path, std::vector{good, other_sources, unknown}));
  std::string later = detail::to_line(measured(args, before[6], 1));
  later.replace(later.find(":1,") + 1, 1, "3");
  std::ofstream(path, std::ios::app) << later << "\nhello\n";
  const Result<TuningSummary> loaded = load_tuning(path);
  REQUIRE(loaded);
  CHECK(loaded->usable == 1);
  CHECK(loaded->other_sources == 1);
  CHECK(loaded->unknown_kernels == 1);
  CHECK(loaded->future_lines == 1);
  CHECK(loaded->damaged_lines == 1);
  CHECK(to_string(*loaded) ==
        "4 of 5 measurements are skipped: 1 of other kernel sources, 1 of unknown kernels, "
        "1 of a later version, 1 damaged");
  check_first(args, good);
  CHECK(load_tuning(folder / "missing").status().code() == StatusCode::file_error);
  std::ofstream(folder / "foreign") << "[1, 2, 3]\n";
  CHECK(load_tuning(folder / "foreign").status().code() == StatusCode::parse_error);
  check_first(args, good);
}

TEST_CASE("tables are loaded while others query") {
  const test::WithoutTuning none;
  const GemmArguments args = test::plain_problem(320, 320, 320);
  const CandidateList before = get_kernels(args, {}, on_h200());
  std::atomic<bool> done = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!done) {
        const Result<Candidate> best = find_best(args, {}, on_h200());
        if (!best || (best->measured_seconds() && *best->measured_seconds() > 1e-3)) ++wrong;
      }
    });
  }
  for (std::size_t i = 0; i < 20; ++i) load({measured(args, before[i], 40 - static_cast<double>(i))});
  done = true;
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(find_best(args, {}, on_h200())->name() == before[19].name());
}
