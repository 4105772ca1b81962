// Options of queries as logs and tables keep them.
#include "registry/tuning/query_options.hpp"

#include <cstdint>
#include <limits>
#include <set>

#include "support/catch_compat.hpp"

using namespace quarry::detail;

TEST_CASE("options are said in the words of the command line") {
  CHECK(words_of({}).empty());
  CHECK(words_of({.batch_invariant = true}) == " --batch-invariant");
  CHECK(words_of({.max_workspace = 0}) == " --max-workspace 0");
  CHECK(words_of({true, 4096}) == " --batch-invariant --max-workspace 4096");
}

TEST_CASE("a workspace limit above 2^63 - 1 counts as no limit") {
  constexpr auto most = std::size_t{std::numeric_limits<std::int64_t>::max()};
  CHECK(QueryOptions::of(false, most).max_workspace == most);
  CHECK(QueryOptions::of(false, most + 1).is_plain());
  CHECK(QueryOptions::of(false, QueryOptions::no_limit).is_plain());
  CHECK(!QueryOptions::of(true, most + 1).is_plain());
}

TEST_CASE("each choice of options has a key of its own, the plain one the problem's") {
  const TuningKey problem = {{1, 2}, 64};
  CHECK(key_under(problem, {}) == problem);
  std::set<TuningKey> keys;
  for (const bool invariant : {false, true}) {
    for (const std::size_t limit :
         {std::size_t{0}, std::size_t{1}, std::size_t{4096}, QueryOptions::no_limit}) {
      const TuningKey key = key_under(problem, {invariant, limit});
      CHECK(key.m == 64);
      keys.insert(key);
    }
  }
  CHECK(keys.size() == 8);
}

TEST_CASE("measurements without the limit and of the plain query serve a query, too, not those of a class") {
  const auto of_both = options_to_look_up({true, 4096});
  CHECK(of_both[0] == QueryOptions{true, 4096});
  CHECK(of_both[1] == QueryOptions{.batch_invariant = true});
  CHECK(of_both[2].is_plain());
  for (const QueryOptions& each : options_to_look_up({.max_workspace = 0})) CHECK(!each.batch_invariant);
}
