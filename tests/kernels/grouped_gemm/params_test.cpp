/// Where groups begin and end, whatever their sizes say.
#include "grouped_gemm/params.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;

namespace {

constexpr GroupForm forms[] = {GroupForm::contiguous, GroupForm::masked, GroupForm::ragged_k};
constexpr int greatest = std::numeric_limits<int>::max();
constexpr int least = std::numeric_limits<int>::min();

/// Sizes of which some make no sense.
std::vector<int> any_sizes(std::mt19937_64& random, int groups, int room) {
  std::vector<int> sizes;
  for (int i = 0; i < groups; ++i) {
    const int choices[] = {least,
                           -1,
                           0,
                           greatest,
                           room + 1,
                           static_cast<int>(random() % (room + 1)),
                           static_cast<int>(random() % (room + 1))};
    sizes.push_back(choices[random() % std::size(choices)]);
  }
  return sizes;
}

GroupedGemmParams random_params(std::mt19937_64& random, const std::vector<int>& sizes, int room, int tile) {
  GroupedGemmParams params = {};
  params.groups = {.sizes = sizes.data(),
                   .groups = static_cast<int>(sizes.size()),
                   .room = room,
                   .form = forms[random() % 3],
                   .sizes_are_ends = random() % 2 == 0,
                   .zero_outside = random() % 2 == 0,
                   .clamp_host_sizes = true};
  if (params.groups.form == GroupForm::masked) params.groups.sizes_are_ends = false;
  params.gemm.m = params.groups.form == GroupForm::ragged_k ? static_cast<int>(random() % 200) : room;
  params.gemm.tiles_m = (params.gemm.m + tile - 1) / tile;
  params.gemm.tiles_n = 1 + static_cast<int>(random() % 3);
  return params;
}

std::vector<GroupSpan> spans_of(const GroupParams& groups) {
  std::vector<GroupSpan> spans;
  int begin = 0;
  for (long long i = 0; i < span_count(groups); ++i) {
    const int group = group_of_span(groups, i);
    spans.push_back(group_span(groups, i, group < groups.groups ? groups.sizes[group] : 0, begin));
    begin = spans.back().first + spans.back().count;
  }
  return spans;
}

}  // namespace

TEST_CASE("groups stay disjoint and within their room, whatever the sizes say", "[grouped_gemm]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 3000; ++i) {
    const int room = static_cast<int>(random() % 300);
    const std::vector<int> sizes = any_sizes(random, static_cast<int>(random() % 6), room);
    const int tile = 1 << random() % 7;
    const GroupedGemmParams params = random_params(random, sizes, room, tile);
    const GroupParams& groups = params.groups;
    const bool is_masked = groups.form == GroupForm::masked;
    const std::vector<GroupSpan> spans = spans_of(groups);
    long long end = 0;
    long long tiles = 0;
    std::vector<int> covered(sizes.size() + 1, 0);
    for (std::size_t number = 0; number < spans.size(); ++number) {
      const GroupSpan& span = spans[number];
      CAPTURE(i, number, span.first, span.count, room);
      REQUIRE(span.first >= 0);
      REQUIRE(span.count >= 0);
      REQUIRE(span.first + span.count <= room);
      if (is_masked) {
        REQUIRE(span.is_outside == (number >= sizes.size()));
        REQUIRE(span.first == covered[static_cast<std::size_t>(span.group)]);
        covered[static_cast<std::size_t>(span.group)] += span.count;
      } else {
        REQUIRE(span.first == end);
        // The rule of the documentation: end'(g) = clamp(max(end(g), end'(g - 1)), 0, room).
        const long long size = span.is_outside ? room : sizes[number];
        const long long asked = span.is_outside || groups.sizes_are_ends ? size : end + std::max(size, 0LL);
        REQUIRE(span.first + span.count ==
                std::clamp(std::max(asked, end), 0LL, static_cast<long long>(room)));
        end = span.first + span.count;
      }
      const int rows = groups.form == GroupForm::ragged_k ? params.gemm.m : span.count;
      tiles += (rows + tile - 1) / tile * params.gemm.tiles_n;
    }
    if (is_masked && groups.zero_outside)
      for (std::size_t g = 0; g < sizes.size(); ++g) REQUIRE(covered[g] == room);
    REQUIRE(tiles <= most_group_tiles(params.gemm, params.groups, tile));
  }
}
