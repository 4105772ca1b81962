/// Lists of problems as text and at random.
#include "operations/gemm_list/lab/sizes.hpp"

#include <fstream>

#include "lab/operation.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "lab/tune/problem_lines.hpp"
#include "operations/gemm_list/lab/operation.hpp"
#include "support/cache_folder.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using namespace quarry::lab::gemm_list;

TEST_CASE("lists are read from text and files, and written back", "[gemm_list]") {
  const auto list = parse_list("64x32x16,2*1x2x3,-5x0x7");
  REQUIRE(list);
  CHECK(list->size() == 4);
  CHECK(list_text(*list) == "64x32x16,2*1x2x3,-5x0x7");
  const detail::TestFolder folder;
  const std::string path = folder / "list.txt";
  std::ofstream(path) << "64x32x16 1x2x3\n1x2x3,\n-5x0x7\n";
  const auto from_file = parse_list(path);
  REQUIRE(from_file);
  CHECK(list_text(*from_file) == list_text(*list));
  for (const char* const text : {"64x32", "64x32x16x8", "x1x2", "0*1x2x3", "-1*1x2x3", "9999999999x1x1",
                                 "1x2x3,*", "99999999*1x1x1", "no such file", ""}) {
    INFO(text);
    const auto wrong = parse_list(text);
    CHECK(wrong.status().code() == StatusCode::parse_error);
    CHECK(wrong.status().message().starts_with("expected "));
  }
}

TEST_CASE("leading dimensions are read and written back", "[gemm_list]") {
  const auto leading = parse_leading("1:2:3:4,3*-5:6:7:8");
  REQUIRE(leading);
  CHECK(leading->size() == 4);
  CHECK(leading_text(*leading) == "1:2:3:4,3*-5:6:7:8");
  for (const char* const text :
       {"1:2:3", "1:2:3:4:5", "a", "1;2;3;4", "0*1:2:3:4", "*1:2:3:4", "99999999*1:2:3:4"})
    CHECK(parse_leading(text).status().code() == StatusCode::parse_error);
}

TEST_CASE("what leading dimensions keep is found, and packed lines keep what is promised", "[gemm_list]") {
  const auto problem_of = [](const std::string& flags) {
    const auto read = lab::parse_command_text("gemm_list 64x40x48,1x1x1,9x20x24,3x3x0 --a f16 " + flags);
    INFO(read.status().message());
    REQUIRE(read);
    return read->as<Problem>();
  };
  const auto kept = [&](const std::string& flags) {
    return Lab::arguments(problem_of("--bounds 64x64x64 " + flags)).leading_alignment;
  };
  CHECK(kept("") == 16);
  CHECK(kept("--leading packed") == 4);  // lines of 20
  CHECK(kept("--leading packed --leading-alignment 12") == 12);
  CHECK(kept("--leading 64:64:0:40,1:1:0:1,24:24:0:20,1:7:0:3") == 8);
  CHECK(kept("--leading 64:64:0:40,1:1:0:1,25:24:0:20,1:7:0:3") == 1);
  CHECK(kept("--leading 64:64:0:40,1:1:0:1,99:16:0:20,1:7:0:3 --wrong-sizes clamp") == 4);
  const auto packed = [&](const std::string& flags) {
    return leading_text(problem_of("--leading packed " + flags).leading);
  };
  CHECK(packed("") == "48:40:40:40,1:1:1:1,24:20:20:20,1:3:3:3");
  CHECK(packed("--leading-alignment 8") == "48:40:40:40,8:8:1:1,24:24:20:20,8:8:3:3");
  CHECK(packed("--leading-alignment 32 --bounds 64x40x64") == "64:40:40:40,32:32:1:1,32:32:20:20,32:32:3:3");
}

TEST_CASE("drawn sizes keep to the bounds until they are spoiled", "[gemm_list]") {
  lab::Dice dice(lab::fresh_seed());
  int empty = 0, huge = 0, wrong = 0;
  for (int i = 0; i < 500; ++i) {
    Problem problem;
    problem.bounds = {static_cast<int>(dice.between(0, 90)), static_cast<int>(dice.between(1, 90)), 40};
    draw_sizes(problem, dice.between(1, 8), dice);
    for (std::size_t j = 0; j < problem.sizes.size(); ++j) {
      const ListExtents& each = problem.sizes[j];
      const ListExtents own = problem.own(j);
      CHECK((each.m == own.m && each.n == own.n && each.k == own.k));
      empty += own.m == 0 || own.n == 0;
      huge += own.m == problem.bounds.m && own.n == problem.bounds.n;
    }
    spoil_sizes(problem, dice);
    for (std::size_t j = 0; j < problem.sizes.size(); ++j) {
      const ListExtents own = problem.own(j);
      wrong += problem.sizes[j].m != own.m || problem.sizes[j].k != own.k;
      CHECK((own.m >= 0 && own.m <= problem.bounds.m));
    }
  }
  CHECK(empty > 100);
  CHECK(huge > 50);
  CHECK(wrong > 200);
}
