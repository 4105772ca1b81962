// Benchmarks of many problems that stop and go on: what is measured, kept and passed on. Times come from a
// stand-in.
#include "lab/bench/suite.hpp"

#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "lab/bench/result_text.hpp"
#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/problems/seed.hpp"
#include "lab/problems/settings.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab;

namespace {

namespace fs = std::filesystem;

/// A folder that goes with its contents.
struct Folder {
  std::string path = (fs::temp_directory_path() / "quarry_bench_XXXXXX").string();
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  std::string file() const { return path + "/record"; }
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

std::vector<Problem> some_problems(std::size_t count) {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < count; ++i) {
    // Every third one is there a second time.
    const std::string shape = std::to_string(8 * (i - i / 3 + 1)) + "x16x32";
    const Result<Problem> problem = parse_problem(Operation::gemm, shape, {{"type", "f16"}});
    REQUIRE(problem);
    problems.push_back(*problem);
    problems.back().label = "number " + std::to_string(i);
  }
  return problems;
}

/// Any result that a benchmark could have, by its seed.
BenchResult any_result(const Problem& problem, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const auto number = [&dice](std::uint64_t most) { return dice() % most; };
  const auto seconds = [&] { return static_cast<double>(number(1000) + 1) * 1.1e-7; };
  const auto spread = [&] { return Spread{seconds(), seconds(), seconds()}; };
  const auto controls = [&] {
    Controls c;
    if (number(2) == 0) c.mode = static_cast<Mode>(number(5));
    if (number(2) == 0) c.split_k_slices = static_cast<int>(number(9)) + 1;
    if (number(2) == 0) c.swizzle = 4;
    if (number(2) == 0) c.raster = static_cast<Raster>(number(2));
    if (number(2) == 0) c.multiprocessors = 100;
    return c;
  };
  const auto finalists = [&](std::size_t count, const char* name) {
    std::vector<Finalist> all;
    for (std::size_t i = 0; i < count; ++i) {
      Finalist& each = all.emplace_back();
      each.name = name + std::to_string(i) + "\"\n\\";
      each.controls = controls();
      if (number(2) == 0) each.predicted_seconds = seconds();
      each.timing.gaps = spread();
      if (number(2) == 0) each.timing.back_to_back = spread();
      for (std::size_t part = number(3); part > 0; --part)
        each.choice.push_back({"part" + std::to_string(part), part == 1 ? "128x256" : "7"});
    }
    return all;
  };
  BenchResult r;
  r.problem = problem;
  r.seed = seed;
  r.matched = number(1000);
  r.timed = number(16);
  r.launches = static_cast<int>(number(256));
  r.sets = number(4096);
  r.kernels = finalists(1 + number(5), "kernel");
  r.best = number(r.kernels.size());
  if (number(2) == 0) r.first = number(r.kernels.size());
  r.algorithms = finalists(number(4), "algorithm");
  r.types = "f16 x f16 to f16";
  if (number(2) == 0) r.yardstick_epilogue = "plain";
  if (!r.algorithms.empty() && number(2) == 0) r.algorithm_first = number(r.algorithms.size());
  for (std::size_t i = number(6); i > 0; --i) {
    r.brief.push_back({"brief", controls(), seconds(), seconds()});
    Account& account = r.brief.back().account;
    account.operations = 1e9 * seconds();
    account.bytes = 1e6 * seconds();
    account.waves = seconds();
    account.seconds = seconds();
    for (double& part : account.seconds_of) part = seconds();
  }
  for (std::size_t i = number(3); i > 0; --i) r.wrong.push_back("wrong " + std::to_string(i));
  return r;
}

const BenchSetup setup = {{"--top", "16"}, {"device", "a stand-in"}, {"--kernel", ""}};

/// What a benchmark passed on.
struct Journal {
  std::vector<std::string> texts;
  std::vector<std::string> labels;
  std::size_t measured = 0;
  std::size_t failed = 0;
};

/// One process: goes on with the record, and is stopped after so many measurements.
Status run(const std::string& path, const std::vector<Problem>& problems, std::size_t stop,
           Journal& journal) {
  Result<BenchRecord> record = BenchRecord::read(path);
  if (!record) return record.status();
  if (Status s = record->open(setup); !s) return s;
  const BenchSuite suite{.problems = problems,
                         .seed = 5,
                         .measure =
                             [&](const Problem& problem, std::uint64_t seed) {
                               ++journal.measured;
                               return any_result(problem, seed);
                             },
                         .ended =
                             [&](const BenchResult& result) {
                               journal.texts.push_back(result_text(result));
                               journal.labels.push_back(result.problem.label);
                               if (journal.measured < stop) return Status();
                               return Status(StatusCode::device_error, "stopped");
                             },
                         .failed = [&](const Problem&, const Status&) { ++journal.failed; }};
  return run_suite(suite, *record);
}

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

}  // namespace

TEST_CASE("results: a line of a record holds a whole result, and other lines are refused") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  const Problem problem = some_problems(1)[0];
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::string line = result_text(any_result(problem, seed + i));
    REQUIRE(line.find('\n') == std::string::npos);
    std::optional<WrittenResult> read = read_result(line);
    REQUIRE(read);
    CHECK(read->command == command_text(problem));
    read->result.problem = problem;
    CHECK(result_text(read->result) == line);
    CHECK_FALSE(read_result(line.substr(0, line.size() - 1 - derived_seed(seed, i) % (line.size() - 1))));
  }
  for (const char* line : {"", "{}", "[]", "null", "7", "\xff", "{\"command\":\"gemm\"}"})
    CHECK_FALSE(read_result(line));
}

TEST_CASE("results that cannot be shown are not read") {
  const Problem problem = some_problems(1)[0];
  BenchResult result = any_result(problem, 1);
  REQUIRE(read_result(result_text(result)));
  const auto refused = [&](const auto& change) {
    BenchResult bad = result;
    change(bad);
    return !read_result(result_text(bad));
  };
  CHECK(refused([](BenchResult& r) { r.kernels.clear(); }));
  CHECK(refused([](BenchResult& r) { r.best = r.kernels.size(); }));
  CHECK(refused([](BenchResult& r) { r.first = 99; }));
  CHECK(refused([](BenchResult& r) { r.algorithm_first = r.algorithms.size(); }));
  CHECK(refused([](BenchResult& r) { r.kernels[0].timing.gaps.median = 0; }));
  CHECK(refused([](BenchResult& r) { r.kernels[0].timing.gaps.low = -1; }));
  CHECK(refused([](BenchResult& r) { r.kernels[0].timing.gaps.high = NAN; }));
}

TEST_CASE("a benchmark that is stopped anywhere goes on, and ends as one that was not") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 dice(seed);
  const std::vector<Problem> problems = some_problems(12);
  Journal whole;
  {
    const Folder folder;
    REQUIRE(run(folder.file(), problems, never, whole));
  }
  REQUIRE(whole.measured == problems.size());
  REQUIRE(whole.texts.size() == problems.size());
  for (int round = 0; round < 20; ++round) {
    const Folder folder;
    std::size_t measured = 0;
    Journal journal;
    for (;;) {
      journal = {};
      const Status ended = run(folder.file(), problems, 1 + dice() % 4, journal);
      measured += journal.measured;
      if (ended) break;
    }
    CHECK(measured == problems.size());
    CHECK(journal.texts == whole.texts);
    CHECK(journal.labels == whole.labels);
    CHECK(content(folder.file()).starts_with("{\"quarry_bench_record\":1,"));
  }
}

TEST_CASE("a record that ends anywhere is gone on with: what is missing is measured again") {
  const Folder folder;
  const std::vector<Problem> problems = some_problems(4);
  Journal whole;
  REQUIRE(run(folder.file(), problems, never, whole));
  const std::string text = content(folder.file());
  const std::size_t header = text.find('\n');
  for (std::size_t end = header; end < text.size(); end += 1 + end % 97) {
    write(folder.file(), text.substr(0, end));
    Journal journal;
    REQUIRE(run(folder.file(), problems, never, journal));
    CHECK(journal.texts == whole.texts);
    // Again, with nothing left to measure: the half line is not in the way of the one behind it.
    Journal again;
    REQUIRE(run(folder.file(), problems, never, again));
    CHECK(again.measured == 0);
    CHECK(again.texts == whole.texts);
  }
  // A damaged line in the middle.
  std::string damaged = text;
  damaged[header + 10] = '\0';
  write(folder.file(), damaged);
  Journal journal;
  REQUIRE(run(folder.file(), problems, never, journal));
  CHECK(journal.measured == 1);
  CHECK(journal.texts == whole.texts);
}

TEST_CASE("files that are no record, or that of another benchmark, are refused and left alone") {
  const Folder folder;
  const auto refused = [&](const std::string& text, const std::string& says) {
    write(folder.file(), text);
    Journal journal;
    const Status status = run(folder.file(), some_problems(1), never, journal);
    INFO(status.message());
    CHECK_FALSE(status);
    CHECK(status.message().find(says) != std::string::npos);
    CHECK(status.message().find('\n') == std::string::npos);
    CHECK(journal.measured == 0);
    CHECK(content(folder.file()) == text);
  };
  for (const char* foreign :
       {"my notes\n", "{\"quarry_bench_rec", "{}\n", "[1]\n", "\n", "{\"quarry_bench_record\":\"1\"}\n",
        "{\"quarry_bench_record\":0,\"setup\":{}}\n", "{\"quarry_bench_record\":1,\"setup\":[1]}\n",
        "{\"quarry_bench_record\":1,\"setup\":{\"--top\":16}}\n"})
    refused(foreign, "is not a record");
  refused("{\"quarry_bench_record\":2,\"setup\":{}}\n", "later Quarry");
  refused("{\"quarry_bench_record\":1,\"setup\":{\"--top\":\"4\",\"device\":\"a stand-in\"}}\n",
          "--top `4`, not `16`");
  refused("{\"quarry_bench_record\":1,\"setup\":{\"--top\":\"16\"}}\n", "device nothing, not `a stand-in`");

  Result<BenchRecord> none = BenchRecord::read(folder.path + "/no/record");
  REQUIRE(none);
  CHECK(none->open(setup).code() == StatusCode::file_error);
  CHECK(BenchRecord::read(folder.path).status().code() == StatusCode::parse_error);
}

/// Files of this process grow no further than so many bytes, as if the disk were full.
struct FullDisk {
  rlimit before = {};
  void (*signal_before)(int) = std::signal(SIGXFSZ, SIG_IGN);
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit limit = {bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, signal_before);
  }
};

TEST_CASE("a full disk ends a benchmark with a message, before its result is passed on") {
  const Folder folder;
  Journal whole;
  REQUIRE(run(folder.file(), some_problems(3), 2, whole).message() == "stopped");
  const std::string before = content(folder.file());
  Journal journal;
  {
    const FullDisk full(before.size() + 10);
    const Status status = run(folder.file(), some_problems(3), never, journal);
    CHECK(status.code() == StatusCode::file_error);
    CHECK(status.message().find("cannot write") != std::string::npos);
  }
  CHECK(journal.texts == whole.texts);  // those that were recorded before
  CHECK(content(folder.file()).starts_with(before));
  Journal again;
  REQUIRE(run(folder.file(), some_problems(3), never, again));
  CHECK(again.measured == 1);
}

TEST_CASE("without a file every problem is measured, those that fail are told and the next ones follow") {
  const std::vector<Problem> problems = some_problems(5);
  BenchRecord record;
  std::vector<std::uint64_t> seeds;
  std::size_t ended = 0;
  std::size_t failed = 0;
  const BenchSuite suite{
      .problems = problems,
      .seed = 9,
      .measure = [&](const Problem& problem, std::uint64_t seed) -> Result<BenchResult> {
        seeds.push_back(seed);
        if (seeds.size() == 2) return Status(StatusCode::device_error, "broken");
        return any_result(problem, seed);
      },
      .ended =
          [&](const BenchResult&) {
            ++ended;
            return Status();
          },
      .failed = [&](const Problem&, const Status& why) { failed += why.message() == "broken"; }};
  REQUIRE(run_suite(suite, record));
  CHECK(ended == 4);
  CHECK(failed == 1);
  for (std::size_t i = 0; i < seeds.size(); ++i) CHECK(seeds[i] == derived_seed(9, i));
}
