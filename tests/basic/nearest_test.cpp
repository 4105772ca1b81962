/// The nearest names, against the textbook's full table of edit distances.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "basic/nearest.hpp"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

namespace quarry::detail {
namespace {

using Names = std::vector<std::string_view>;

/// Insertions, removals, replacements and exchanges of neighbours from one text to the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        table[i][j] = i + j;
        continue;
      }
      std::size_t steps = table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      steps = std::min({steps, table[i - 1][j] + 1, table[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        steps = std::min(steps, table[i - 2][j - 2] + 1);
      }
      table[i][j] = steps;
    }
  }
  return table[a.size()][b.size()];
}

/// The documented answer, computed the slow way.
Names expected_nearest(std::string_view text, const Names& names) {
  struct Near {
    std::size_t distance;
    std::string_view name;
  };
  std::vector<Near> all;
  for (const std::string_view name : names) {
    const bool part = text.size() >= 3 && name.find(text) != name.npos;
    const std::size_t steps = part ? 1 : distance(text, name);
    if (steps <= 1 + text.size() / 4) all.push_back({steps, name});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Near& a, const Near& b) { return a.distance < b.distance; });
  Names nearest;
  for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 3); ++i) nearest.push_back(all[i].name);
  return nearest;
}

std::string random_text(std::mt19937& random, std::size_t most) {
  std::string text(random() % (most + 1), ' ');
  for (char& c : text) c = static_cast<char>('a' + random() % 3);
  return text;
}

TEST_CASE("The nearest names are those of the full table", "[nearest]") {
  const unsigned seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::size_t found = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> texts;
    for (int i = 0; i < 12; ++i) texts.push_back(random_text(random, 12));
    const Names names(texts.begin(), texts.end());
    const std::string text = "x" + random_text(random, 11);
    INFO("round " << round << ", text " << text);
    const Names nearest = nearest_names(text, names);
    REQUIRE(nearest == expected_nearest(text, names));
    found += nearest.size();
  }
  CHECK(found > 1000);
}

TEST_CASE("Slips of the finger are found", "[nearest]") {
  const Names names = {"tile.m", "tile.n", "tile.k", "stages", "threads", "shared_memory"};
  CHECK(nearest_names("stags", names) == Names{"stages"});
  CHECK(nearest_names("stgaes", names) == Names{"stages"});
  CHECK(nearest_names("Threads", names) == Names{"threads"});
  CHECK(nearest_names("tile", names) == Names{"tile.m", "tile.n", "tile.k"});
  CHECK(nearest_names("memory", names) == Names{"shared_memory"});
  CHECK(nearest_names("sheared_memroy", names) == Names{"shared_memory"});
}

TEST_CASE("What is near to nothing finds nothing", "[nearest]") {
  const Names names = {"tile.m", "stages"};
  CHECK(nearest_names("", names).empty());
  CHECK(nearest_names("zzzzzz", names).empty());
  CHECK(nearest_names("stages", {}).empty());
  CHECK(nearest_names(std::string(1000000, 's'), names).empty());
  CHECK(did_you_mean("zzzzzz", names).empty());
}

TEST_CASE("Names longer than any that is registered are passed over", "[nearest]") {
  const std::string huge(100000, 'a');
  const Names names = {huge, "aaa"};
  CHECK(nearest_names("aaa", names) == Names{"aaa"});
}

TEST_CASE("At most three are named, and the sentence ends well", "[nearest]") {
  const Names names = {"s1", "s2", "s3", "s4"};
  CHECK(did_you_mean("s5", names) == "; did you mean `s1`, `s2` or `s3`?");
  CHECK(did_you_mean("x4", names) == "; did you mean `s4`?");
}

TEST_CASE("Kernel names of thousands are searched to the end", "[nearest]") {
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i) {
    texts.push_back("gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s" + std::to_string(i) + "_a8x8");
  }
  const Names names(texts.begin(), texts.end());
  CHECK(nearest_names("gem_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4999_a8x8", names)[0] == names[4999]);
}

}  // namespace
}  // namespace quarry::detail
