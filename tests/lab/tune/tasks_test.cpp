// Which problems a tuning measures, and which part of them a process does.
#include "lab/tune/tasks.hpp"

#include <stdlib.h>

#include <fstream>
#include <set>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "lab/tune/problem_lines.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using quarry::test::Random;

Problem problem(const std::string& text) {
  const Result<Problem> read = parse_command_text(text);
  INFO(text << ": " << read.status().message());
  REQUIRE(read);
  return *read;
}

std::vector<TuneTask> tasks(std::size_t count) {
  std::vector<TuneTask> all;
  for (std::size_t i = 1; i <= count; ++i)
    all.push_back({problem("gemm " + std::to_string(i) + "x64x64 --a f16:row")});
  return all;
}

/// The variables of a Slurm array task while it lives.
class SlurmTask {
 public:
  SlurmTask(const char* id, const char* least, const char* count) {
    set("SLURM_ARRAY_TASK_ID", id);
    set("SLURM_ARRAY_TASK_MIN", least);
    set("SLURM_ARRAY_TASK_COUNT", count);
  }
  ~SlurmTask() {
    for (const char* name : {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"})
      unsetenv(name);
  }

 private:
  static void set(const char* name, const char* value) {
    if (value == nullptr) {
      unsetenv(name);
    } else {
      setenv(name, value, 1);
    }
  }
};

}  // namespace

TEST_CASE("each task is in one part, whatever the others are") {
  const auto all = tasks(300);
  for (const std::size_t count : {1U, 2U, 7U, 64U}) {
    std::multiset<std::string> seen;
    std::size_t most = 0;
    for (std::size_t index = 0; index < count; ++index) {
      const auto part = tasks_in(all, {index, count});
      most = std::max(most, part.size());
      for (const TuneTask& task : part) {
        seen.insert(task_text(task));
        REQUIRE(tasks_in(std::vector{task}, {index, count}).size() == 1);
      }
    }
    CHECK(seen.size() == all.size());
    CHECK(most < 3 * all.size() / count + 12);
  }
}

TEST_CASE("parts as text") {
  const Result<Shard> shard = parse_shard("3/16");
  REQUIRE(shard);
  CHECK(shard->index == 3);
  CHECK(shard->count == 16);
  for (const char* bad :
       {"", "3", "/", "16/16", "17/16", "-1/16", "0/0", "1/x", "1/2/3", " 1/2", "0/99999999"}) {
    INFO(bad);
    CHECK(parse_shard(bad).status().code() == StatusCode::parse_error);
  }
}

TEST_CASE("the part of a Slurm array task") {
  CHECK(!slurm_shard()->has_value());
  {
    const SlurmTask task("12", "10", "4");
    const auto shard = slurm_shard();
    REQUIRE(shard);
    REQUIRE(*shard);
    CHECK((*shard)->index == 2);
    CHECK((*shard)->count == 4);
  }
  for (const auto& [id, least, count] :
       {std::tuple("14", "10", "4"), std::tuple("9", "10", "4"), std::tuple("x", "0", "4"),
        std::tuple("1", "0", static_cast<const char*>(nullptr)), std::tuple("0", "0", "0")}) {
    const SlurmTask task(id, least, count);
    CHECK(slurm_shard().status().code() == StatusCode::parse_error);
  }
}

TEST_CASE("ranges of M as text") {
  const Result<MRange> range = parse_m_range("1..8192");
  REQUIRE(range);
  CHECK(range->low == 1);
  CHECK(range->high == 8192);
  for (const char* bad :
       {"", "..", "1..", "..2", "2..2", "3..2", "0..2", "1-2", "1..2..3", "1..99999999999"}) {
    INFO(bad);
    CHECK(parse_m_range(bad).status().code() == StatusCode::parse_error);
  }
}

TEST_CASE("a problem with another M") {
  const Problem one = problem("gemm 1x48x64 --a f16:row --b f16:col --batch 3 --bias row");
  CHECK(command_text(with_m(one, 512)) ==
        "gemm 512x48x64 --a f16:row --b f16:col --out f16:row --batch 3 --bias row");
}

TEST_CASE("probes find the crossover points") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const MRange range = {1 + static_cast<std::int64_t>(random() % 64),
                          100 + static_cast<std::int64_t>(random() % 9000)};
    // Winners between a few points, far from each other.
    std::vector<std::int64_t> crossings;
    for (std::int64_t at = range.low + 5; at < range.high;
         at += at + static_cast<std::int64_t>(random() % 500))
      crossings.push_back(at);
    const auto winner = [&](std::int64_t m) {
      const auto next = std::ranges::upper_bound(crossings, m - 1);
      return std::to_string(next - crossings.begin());
    };
    std::map<std::int64_t, std::string> winners;
    std::map<std::int64_t, std::int64_t> above;
    while (const auto probe = next_probe(range, winners)) {
      REQUIRE(probe->m >= range.low);
      REQUIRE(probe->m <= range.high);
      REQUIRE(probe->above < probe->m);
      REQUIRE(winners.try_emplace(probe->m, winner(probe->m)).second);
      above[probe->m] = probe->above;
      REQUIRE(winners.size() < 250);
    }
    REQUIRE(winners.contains(range.low));
    REQUIRE(winners.contains(range.high));
    // Every M is in an interval, and its winner is the right one but near to a crossing.
    for (std::int64_t m = range.low; m <= range.high; ++m) {
      auto at = winners.lower_bound(m);
      while (at != winners.end() && at->first != m && above[at->first] >= m) ++at;
      REQUIRE(at != winners.end());
      if (at->second == winner(m)) continue;
      INFO("m " << m << " has the choice of " << at->first);
      REQUIRE(at->first - m <= std::max<std::int64_t>(8, m / 8));
    }
  }
}

TEST_CASE("likely probes are the first ones, and the next ones where winners differ") {
  for (const MRange range :
       {MRange{1, 8192}, MRange{1, 2}, MRange{3, 300}, MRange{100, 101}, MRange{7, 100'000}}) {
    const std::vector<std::int64_t> likely = likely_probes(range);
    REQUIRE(likely.size() >= first_probes(range));
    std::map<std::int64_t, std::string> winners;
    for (std::size_t i = 0; i < first_probes(range); ++i) {
      const auto probe = next_probe(range, winners);
      REQUIRE(probe);
      CHECK(probe->m == likely[i]);
      winners[probe->m] = std::to_string(i);  // each another one
    }
    const auto next = next_probe(range, winners);
    REQUIRE(next.has_value() == (likely.size() > first_probes(range)));
    if (next) CHECK(next->m == likely[first_probes(range)]);
    CHECK(std::set<std::int64_t>(likely.begin(), likely.end()).size() == likely.size());
  }
}

TEST_CASE("probes find winners between two values that have the same one") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  const MRange range = {1, 8192};
  for (int round = 0; round < 20; ++round) {
    // Another kernel wins a stretch of a seventh, or more, between powers of two.
    const std::int64_t power = std::int64_t{256} << random() % 5;
    const std::int64_t begin =
        power + 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(power / 2));
    const std::int64_t end = begin + begin / 7 + 1;
    std::map<std::int64_t, std::string> winners;
    while (const auto probe = next_probe(range, winners))
      winners.try_emplace(probe->m, probe->m >= begin && probe->m <= end ? "other" : "usual");
    INFO(begin << " to " << end);
    CHECK(std::ranges::any_of(winners, [](const auto& of_m) { return of_m.second == "other"; }));
    CHECK(winners.size() < 80);
  }
}

TEST_CASE("a log of problems: each once, without its garbage") {
  const detail::TestFolder folder;
  const std::string path = folder / "log";
  const auto read = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return read_problem_log(path);
  };
  const std::string one = "gemm 64x64x64 --a f16:row --b f16:col --out f16:row\n";
  const auto log = read(one + "hello\n\n" + one + "gemm 1x2 --a f16\ngemm 0x8x8 --a f16:row\n" +
                        "nonsense 1x2x3\ngemm 8x8x8 --a f16:row --wrong 3\n" + std::string(100000, 'x') +
                        "\n\xff\xfe\ngemm 32x64x64 --a f16:row\r\ngemm 16x16x16 --a f1");
  REQUIRE(log);
  CHECK(log->problems.size() == 2);
  CHECK(log->skipped == 8);
  CHECK(read("hello\n").status().code() == StatusCode::parse_error);
  CHECK(read("").status().code() == StatusCode::parse_error);
  CHECK(read_problem_log(folder / "missing").status().code() == StatusCode::parse_error);
}
