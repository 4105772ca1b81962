/// Sizes of groups as text, by distributions and at random.
#include "operations/grouped_gemm/lab/sizes.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>

#include "lab/problems/fresh_seed.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab::grouped_gemm;
using Sizes = std::vector<std::int32_t>;

TEST_CASE("distributions share all tokens, the same every time", "[grouped_gemm]") {
  for (const char* const name : {"even", "uniform", "zipf", "one"}) {
    for (const std::int64_t groups : {1, 2, 7, 300}) {
      for (const std::int64_t tokens : {0, 1, 5, 8192}) {
        CAPTURE(name, groups, tokens);
        const auto counts = distributed(name, tokens, groups);
        REQUIRE(counts);
        CHECK(std::ssize(*counts) == groups);
        CHECK(std::ranges::all_of(*counts, [](std::int32_t count) { return count >= 0; }));
        CHECK(std::accumulate(counts->begin(), counts->end(), std::int64_t{0}) == tokens);
        CHECK(*distributed(name, tokens, groups) == *counts);
      }
    }
  }
  CHECK(*distributed("even", 10, 4) == Sizes{3, 3, 2, 2});
  CHECK(*distributed("one", 10, 3) == Sizes{0, 10, 0});
  CHECK(*distributed("zipf", 11, 3) == Sizes{6, 3, 2});
  CHECK(distributed("normal", 10, 3).status().message() ==
        "unknown distribution `normal`; expected even, uniform, zipf or one");
}

TEST_CASE("sizes are read from lists and files", "[grouped_gemm]") {
  CHECK(*parse_size_list("3,0,-5") == Sizes{3, 0, -5});
  CHECK(size_list_text(Sizes{3, 0, -5}) == "3,0,-5");
  for (const char* const text : {"3,99999999999", "3,-", "1-2"})
    CHECK(parse_size_list(text).status().code() == StatusCode::parse_error);
  const detail::TestFolder folder;
  const std::string path = folder / "sizes.txt";
  std::ofstream(path) << "3 0\n7,2\n";
  CHECK(*parse_size_list(path) == Sizes{3, 0, 7, 2});
  std::ofstream(path) << "3 x";
  CHECK(parse_size_list(path).status().message().find("`x`") != std::string::npos);
  CHECK(parse_size_list(folder / "none").status().message().find("cannot read it") != std::string::npos);
}

TEST_CASE("ends are the sums of counts", "[grouped_gemm]") {
  CHECK(ends_of(Sizes{3, 0, 4}) == Sizes{3, 3, 7});
}

TEST_CASE("drawn sizes make sense until they are spoiled", "[grouped_gemm]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  int spoiled = 0;
  for (int i = 0; i < 500; ++i) {
    Problem problem;
    problem.form = static_cast<GroupForm>(i % 3);
    problem.groups = dice.between(1, 7);
    problem.room = dice.between(0, 100);
    problem.sizes_are = problem.form == GroupForm::masked || i % 2 == 0 ? SizesAre::counts : SizesAre::ends;
    draw_sizes(problem, dice);
    REQUIRE(std::ssize(problem.sizes) == problem.groups);
    const auto makes_sense = [&] {
      const GroupParams groups = problem.group_params();
      int begin = 0;
      for (const std::int32_t size : problem.sizes) {
        const bool is_end = groups.sizes_are_ends;
        const int end = clamped_end(groups, size, groups.form == GroupForm::masked ? 0 : begin);
        const std::int64_t asked =
            is_end ? size : (groups.form == GroupForm::masked ? 0 : std::int64_t{begin}) + size;
        if (asked != end) return false;
        begin = end;
      }
      return true;
    };
    REQUIRE(makes_sense());
    spoil_sizes(problem, dice);
    spoiled += !makes_sense();
  }
  CHECK(spoiled > 250);
}
