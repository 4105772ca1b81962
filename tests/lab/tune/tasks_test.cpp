// Which problems a tuning measures, and which part of them a process does.
#include "lab/tune/tasks.hpp"

#include <stdlib.h>

#include <fstream>
#include <string>

#include "lab/tune/problem_lines.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;

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

TEST_CASE("a problem with another M") {
  const Problem one = problem("gemm 1x48x64 --a f16:row --b f16:col --batch 3 --bias row");
  CHECK(command_text(with_m(one, 512)) ==
        "gemm 512x48x64 --a f16:row --b f16:col --out f16:row --batch 3 --bias row");
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
