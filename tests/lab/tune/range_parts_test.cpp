// Parts of a range of M: each has one key, and no M is forgotten.
#include "lab/tune/range_parts.hpp"

#include <set>
#include <string>

#include "lab/problems/fresh_seed.hpp"
#include "lab/tune/problem_key.hpp"
#include "lab/tune/problem_lines.hpp"
#include "lab/tune/tasks.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace {

using namespace quarry;
using namespace quarry::lab;
using quarry::test::Random;

Problem parsed(const std::string& text) {
  const Result<Problem> read = parse_command_text(text);
  INFO(text << ": " << read.status().message());
  REQUIRE(read);
  return *read;
}

std::string words(const std::string& text, const MRange& range) {
  const Result<RangeParts> made = parts_of(parsed(text), range);
  if (!made) return std::string(made.status().message());
  std::string all;
  for (const MRange& part : made->parts) {
    CHECK(part.low == range.low);
    CHECK(part.high == range.high);
    all += (all.empty() ? "" : "; ") + twos_text(part.twos);
  }
  return made->refused == 0 ? all : all + " without " + twos_text(made->refused);
}

std::string some_problem(Random& random) {
  const auto one_of = [&](std::initializer_list<const char*> words) {
    return std::string(words.begin()[random() % words.size()]);
  };
  const std::string type = one_of({"f16", "bf16", "f32", "f64", "e4m3", "s8"});
  const std::string out = type == "s8" ? "s32" : type == "e4m3" ? "f16" : type;
  std::string text = "gemm 7x" + one_of({"64", "96", "33"}) + "x" + one_of({"1", "64", "72", "81"});
  text +=
      " --a " + type + one_of({":row", ":col", ":col:ld=4096"}) + " --b " + type + one_of({":row", ":col"});
  text += " --out " + out + one_of({":row", ":col"});
  return text + one_of({"", " --batch 3", " --c out", " --max-workspace 0", " --bias row"});
}

}  // namespace

TEST_CASE("parts of a range: alignments, where M is a leading dimension") {
  const MRange all = {1, 8192};
  CHECK(words("gemm 1x64x64 --a bf16:row --b bf16:col", all) == "all");
  CHECK(words("gemm 1x64x64 --a bf16:col:ld=8192 --b bf16:col", all) == "all");
  CHECK(words("gemm 1x64x64 --a bf16:col", all) ==
        "multiples of 8; odd multiples of 4; odd multiples of 2; odd");
  CHECK(words("gemm 1x64x64 --a f64:col", all) == "multiples of 2; odd");
  CHECK(words("gemm 1x64x64 --a f32:row --out f32:col", all) == "multiples of 4; odd multiples of 2; odd");
  CHECK(words("gemm 1x64x64 --a s4:col --b bf16:col", {1, 64}) ==
        "multiples of 32; odd multiples of 16; odd multiples of 8; odd multiples of 4; odd multiples of 2 "
        "without odd");
  CHECK(words("gemm 1x64x64 --a bf16:col", {8, 9}) == "multiples of 2; odd");
  CHECK(words("gemm 1x64x64 --a bf16:col", {1, 2}) == "all");
}

TEST_CASE("problems of a part have one key, and each M is in one part") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  Random random(seed);
  for (int round = 0; round < 20; ++round) {
    const std::string text = some_problem(random);
    const auto low = 1 + static_cast<std::int64_t>(random() % 40);
    const MRange range = {low, low + 1 + static_cast<std::int64_t>(random() % 200)};
    INFO(text << " --m " << lab::to_string(range));
    const Problem any = parsed(text);
    const Result<RangeParts> made = parts_of(any, range);
    REQUIRE(made);
    CHECK(made->refused == 0);
    CHECK(made->parts.size() <= 5);
    std::vector<std::set<detail::Digest>> digests(made->parts.size());
    for (std::int64_t m = range.low; m <= range.high; ++m) {
      std::size_t parts = 0;
      for (std::size_t i = 0; i < made->parts.size(); ++i) {
        if (!made->parts[i].has(m)) continue;
        ++parts;
        // The problem of one row may have a key of its own.
        if (m > 1) digests[i].insert(problem_key(with_m(any, m))->digest);
      }
      REQUIRE(parts == 1);
    }
    std::set<detail::Digest> all;
    for (const auto& of_part : digests) {
      CHECK(of_part.size() <= 1);
      all.insert(of_part.begin(), of_part.end());
    }
    CHECK(all.size() == made->parts.size());
  }
}
