// Tables on disk: several writers, full disks, and what other tools left there.
#include "registry/tuning/table_file.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "registry/tuning/index_file.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"
#include "support/random_measurement.hpp"

namespace {

using namespace quarry;
using detail::Measurement;
using detail::TestFolder;
using detail::TuningTable;
using test::Random;
using test::sources;

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::set<std::string> files_in(const TestFolder& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.insert(entry.path().filename());
  return names;
}

/// Runs in a process of its own that can write files of so many bytes at most; whether it succeeded there.
template <class Work>
bool with_file_limit(rlim_t bytes, const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("measurements that were appended are in the table") {
  const TestFolder folder;
  Random random(1);
  const std::string path = folder / "table.jsonl";
  const auto first = test::random_measurements(random, 5);
  const auto second = test::random_measurements(random, 5);
  REQUIRE(detail::append_to_table(path, first));
  // A writer that was killed in the middle of a line.
  put(path, content(path) + "{\"quarry_tuning\":1,\"id\":\"12");
  REQUIRE(detail::append_to_table(path, second));
  const Result<TuningTable> table = detail::read_table(path);
  REQUIRE(table);
  TuningTable expected = test::table_of(first);
  expected.join(test::table_of(second));
  CHECK(table->text() == expected.text());
  CHECK(table->damaged() == 1);
}

TEST_CASE("a full disk leaves the old table") {
  const TestFolder folder;
  Random random(2);
  const std::string path = folder / "table.jsonl";
  const auto all = test::random_measurements(random, 20);
  REQUIRE(detail::append_to_table(path, std::span(all).first(10)));
  const std::string before = content(path);
  for (const std::size_t room : {std::size_t{0}, std::size_t{100}, std::size_t{2000}}) {
    CHECK(!with_file_limit(before.size() + room, [&] {
      return static_cast<bool>(detail::append_to_table(path, std::span(all).subspan(10)));
    }));
    CHECK(content(path) == before);
    CHECK(!with_file_limit(before.size() + room, [&] {
      TuningTable joined;
      return static_cast<bool>(detail::join_into_table(path, test::table_of(all), sources, joined));
    }));
    CHECK(content(path) == before);
    CHECK(files_in(folder) == std::set<std::string>{"table.jsonl"});
  }
  CHECK(!with_file_limit(10, [&] {
    TuningTable joined;
    return static_cast<bool>(
        detail::join_into_table(folder / "new.jsonl", test::table_of(all), sources, joined));
  }));
  CHECK(files_in(folder) == std::set<std::string>{"table.jsonl"});
}

TEST_CASE("processes that write one table at once lose nothing") {
  const TestFolder folder;
  const std::string path = folder / "table.jsonl";
  constexpr int writers = 4;
  constexpr int rounds = 15;
  const auto work_of = [](int writer) {
    Random random(static_cast<unsigned>(100 + writer));
    return test::random_measurements(random, 2 * rounds);
  };
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      const auto all = work_of(writer);
      bool good = true;
      for (std::size_t i = 0; i < rounds; ++i) {
        const auto pair = std::span(all).subspan(2 * i, 2);
        TuningTable joined;
        good = good && (writer % 2 == 0 ? static_cast<bool>(detail::append_to_table(path, pair))
                                        : static_cast<bool>(detail::join_into_table(
                                              path, test::table_of(pair), sources, joined)));
      }
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  TuningTable expected;
  for (int writer = 0; writer < writers; ++writer) expected.join(test::table_of(work_of(writer)));
  const Result<TuningTable> table = detail::read_table(path);
  REQUIRE(table);
  CHECK(table->text() == expected.text());
  CHECK(table->damaged() == 0);
}

TEST_CASE("the index is used while it belongs to the table") {
  const TestFolder folder;
  Random random(3);
  const std::string path = folder / "table.jsonl";
  const auto all = test::random_measurements(random, 50);
  TuningTable joined;
  REQUIRE(detail::join_into_table(path, test::table_of(std::span(all).first(40)), sources, joined));
  const auto from_index = [&](std::string_view of = sources) {
    const Result<detail::LoadedIndex> loaded = detail::load_index(path, of);
    REQUIRE(loaded);
    return loaded->from_index_file;
  };
  CHECK(from_index());
  CHECK(!from_index("others"));
  put(detail::index_path(path), "QUARRYT2");
  CHECK(!from_index());
  REQUIRE(detail::join_into_table(path, {}, sources, joined));
  CHECK(from_index());
  // Changed by hand, in the middle of a table of the same size, after the index was written.
  std::filesystem::last_write_time(path,
                                   std::filesystem::file_time_type::clock::now() + std::chrono::hours(1));
  CHECK(!from_index());
  REQUIRE(detail::join_into_table(path, {}, sources, joined));
  CHECK(from_index());
  REQUIRE(detail::append_to_table(path, std::span(all).subspan(40)));
  CHECK(!from_index());
}

TEST_CASE("files that are no tables are refused, and not changed") {
  const TestFolder folder;
  Random random(4);
  const std::string path = folder / "table.jsonl";
  const auto one = test::random_measurements(random, 1);
  TuningTable joined;
  put(path, "{\"problems\": []}\nhello\n");
  CHECK(detail::read_table(path).status().code() == StatusCode::parse_error);
  CHECK(!detail::join_into_table(path, test::table_of(one), sources, joined));
  CHECK(content(path) == "{\"problems\": []}\nhello\n");
  CHECK(detail::read_table(folder / "missing").status().code() == StatusCode::file_error);
  CHECK(detail::read_table(folder.path()).status().code() == StatusCode::file_error);
  CHECK(!detail::append_to_table(folder.path(), one));
  CHECK(!detail::append_to_table(folder / "missing/table.jsonl", one));
  CHECK(!detail::append_to_table("/dev/full", one));
  put(path, "");
  const Result<TuningTable> empty = detail::read_table(path);
  REQUIRE(empty);
  CHECK(empty->size() == 0);
}

TEST_CASE("lines of a later version are kept by who joins a table") {
  const TestFolder folder;
  Random random(5);
  const std::string path = folder / "table.jsonl";
  const auto one = test::random_measurements(random, 1);
  const std::string later = "{\"quarry_tuning\":2,\"id\":\"00\",\"problem\":{\"op\":\"gemm\"}}\n";
  put(path, later);
  TuningTable joined;
  REQUIRE(detail::join_into_table(path, test::table_of(one), sources, joined));
  CHECK(content(path) == detail::to_line(one[0]) + "\n" + later);
  CHECK(joined.future() == 1);
}

TEST_CASE("a table whose only line was cut short goes on") {
  const TestFolder folder;
  Random random(6);
  const std::string path = folder / "table.jsonl";
  const auto one = test::random_measurements(random, 1);
  const std::string line = detail::to_line(one[0]);
  for (const std::size_t size : {std::size_t{1}, std::size_t{12}, std::size_t{60}, line.size() - 1}) {
    put(path, line.substr(0, size));
    const Result<TuningTable> cut = detail::read_table(path);
    REQUIRE(cut);
    CHECK(cut->damaged() == 1);
    REQUIRE(detail::append_to_table(path, one));
    TuningTable joined;
    REQUIRE(detail::join_into_table(path, {}, sources, joined));
    CHECK(content(path) == line + "\n");
  }
}

TEST_CASE("an index does not fit a table that grew before it was written") {
  const TestFolder folder;
  Random random(7);
  const std::string path = folder / "table.jsonl";
  const auto all = test::random_measurements(random, 400);
  const TuningTable first = test::table_of(std::span(all).first(390));
  put(path, first.text());
  REQUIRE(content(path).size() > (std::size_t{1} << 17));  // more than the stamp looks at
  const detail::TableStamp stamp = detail::stamp_of(content(path));
  REQUIRE(detail::write_index(path, first, stamp, sources));
  CHECK(detail::load_index(path, sources)->from_index_file);
  REQUIRE(detail::append_to_table(path, std::span(all).last(10)));
  REQUIRE(detail::write_index(path, first, stamp, sources));  // as a writer does that was slower
  CHECK(!detail::load_index(path, sources)->from_index_file);
}

TEST_CASE("a table keeps its permissions") {
  const TestFolder folder;
  Random random(9);
  const std::string path = folder / "table.jsonl";
  const auto all = test::random_measurements(random, 4);
  REQUIRE(detail::append_to_table(path, std::span(all).first(2)));
  TuningTable joined;
  using std::filesystem::perms;
  for (const perms own : {perms::owner_read | perms::owner_write,
                          perms::owner_read | perms::owner_write | perms::group_read | perms::group_write}) {
    std::filesystem::permissions(path, own);
    REQUIRE(detail::join_into_table(path, test::table_of(all), sources, joined));
    CHECK(std::filesystem::status(path).permissions() == own);
  }
}

TEST_CASE("a union leaves damaged lines out, and its index does not count them") {
  const TestFolder folder;
  Random random(10);
  const std::string path = folder / "table.jsonl";
  const auto all = test::random_measurements(random, 6);
  put(path, test::table_of(std::span(all).first(3)).text() + "{\"quarry_tuning\":1,\"id\":\"00\n");
  TuningTable other = test::table_of(all);
  other.read("nothing\nat all\n");
  TuningTable joined;
  const Result<std::size_t> left_out = detail::join_into_table(path, other, sources, joined);
  REQUIRE(left_out);
  CHECK(*left_out == 3);
  CHECK(joined.damaged() == 0);
  CHECK(content(path) == test::table_of(all).text());
  const Result<detail::LoadedIndex> loaded = detail::load_index(path, sources);
  REQUIRE(loaded);
  CHECK(loaded->from_index_file);
  CHECK(loaded->index.damaged() == 0);
}

TEST_CASE("a table behind a symbolic link stays there") {
  const TestFolder folder;
  Random random(8);
  const auto all = test::random_measurements(random, 4);
  std::filesystem::create_directory(folder / "shared");
  put(folder / "shared/table.jsonl", test::table_of(std::span(all).first(2)).text());
  std::filesystem::create_symlink("shared/table.jsonl", folder / "link.jsonl");
  TuningTable joined;
  REQUIRE(detail::join_into_table(folder / "link.jsonl", test::table_of(std::span(all).last(2)), sources,
                                  joined));
  CHECK(std::filesystem::is_symlink(folder / "link.jsonl"));
  CHECK(content(folder / "shared/table.jsonl") == test::table_of(all).text());
  CHECK(detail::load_index(folder / "link.jsonl", sources)->from_index_file);
}
