/// The walk of grouped_gemm_sm90 over tiles: any number of groups of any sizes has all tiles once, in the
/// order of the groups.
#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <vector>

#include "emulator/launch.hpp"
#include "grouped_gemm_sm90/group_list.cuh"
#include "lab/problems/fresh_seed.hpp"
#include "support/catch_compat.hpp"

using namespace quarry;
using emulator::MemoryUse;

namespace {

constexpr int most_tiles = 512;  // of a block

/// A tile as a block walks over it.
struct Tile5 {
  int group, tile_m, tile_n, first, count;
  friend constexpr auto operator<=>(const Tile5&, const Tile5&) = default;
};

struct WalkParams {
  GroupedTensorGemmParams tensor;
  int* tiles;   ///< most_tiles of each block
  int* counts;  ///< of each block
};

constexpr gemm_sm90::Config walked = {{DType::bf16, DType::bf16, DType::f32, DType::bf16},
                                      {Layout::row, Layout::column, Layout::row},
                                      {128, 128, 64},
                                      {1, 1},
                                      6,
                                      Schedule::ping_pong,
                                      CopyEngine::tma,
                                      Orientation::direct,
                                      {8, 8}};
/// One warp walks.
struct Walk {
  int threads;
};
constexpr int threads(const Walk& walk) { return walk.threads; }

template <Walk>
void walk(const WalkParams& params) {
  const gemm_sm90::ClusterPlace place = {0, 0, 0};
  const int block = static_cast<int>(arch::block_index());
  int count = 0;
  for (grouped_gemm_sm90::GroupList<walked> list(params.tensor, place); list.has_more(); list.advance()) {
    const grouped_gemm_sm90::TensorWork work = list.current();
    if (arch::lane_index() == 0 && count < most_tiles) {
      int* const to = params.tiles + (block * most_tiles + count) * 5;
      const std::array<int, 5> all = {work.batch, work.tile_m, work.tile_n, work.first + work.head,
                                      work.count - work.head};
      for (std::size_t i = 0; i < all.size(); ++i) arch::global_store(to + i, all[i]);
    }
    ++count;
  }
  if (arch::lane_index() == 0) arch::global_store(params.counts + block, count);
}

constexpr Walk one_warp = {32};

}  // namespace

QUARRY_ENTRY(test_group_list, WalkParams, walk, (one_warp))

namespace {

/// The tiles of the groups, one group after another, by the rules of the parameters.
std::vector<Tile5> expected(const GroupedTensorGemmParams& params) {
  std::vector<Tile5> tiles;
  int begin = 0;
  for (int group = 0; group < params.groups.groups; ++group) {
    const GroupSpan span = group_span(params.groups, group, params.groups.sizes[group], begin);
    begin = span.first + span.count;
    const bool is_ragged = params.groups.form == GroupForm::ragged_k;
    const int down = is_ragged ? params.gemm.tiles_m : (span.count + walked.tile.m - 1) / walked.tile.m;
    for (int m = 0; m < down; ++m) {
      for (int n = 0; n < params.gemm.tiles_n; ++n) tiles.push_back({group, m, n, span.first, span.count});
    }
  }
  return tiles;
}

int random_size(std::mt19937& random, int room) {
  const int any[] = {0,
                     -1,
                     std::numeric_limits<int>::max(),
                     std::numeric_limits<int>::min(),
                     static_cast<int>(random() % static_cast<unsigned>(room + 1)),
                     static_cast<int>(random() % 40)};
  return any[random() % 6];
}

}  // namespace

TEST_CASE("a walk over groups has every tile once, in the order of the groups", "[grouped_gemm]") {
  const auto seed = lab::fresh_seed();
  INFO("seed " << seed);
  std::mt19937 random(static_cast<unsigned>(seed));
  for (int trial = 0; trial < 150; ++trial) {
    const int groups = trial % 3 == 0 ? static_cast<int>(random() % 4) : static_cast<int>(random() % 100);
    const int room = static_cast<int>(random() % (trial % 3 == 0 ? 9000 : 700));
    std::vector<int> sizes(static_cast<std::size_t>(std::max(groups, 1)));
    const bool makes_sense = random() % 2 == 0;
    int end = 0;
    GroupedTensorGemmParams params = {};
    params.groups.form = static_cast<GroupForm>(random() % 3);
    params.groups.sizes_are_ends = params.groups.form != GroupForm::masked && random() % 2 == 0;
    for (int& size : sizes) {
      const int most = static_cast<int>(random() % (room > 700 ? 5000 : 60));
      const int count = std::min(most, room - end);
      end += count;
      size = !makes_sense ? random_size(random, room) : params.groups.sizes_are_ends ? end : count;
    }
    params.groups.sizes = sizes.data();
    params.groups.groups = groups;
    params.groups.room = room;
    params.gemm.tiles_m = 1 + static_cast<int>(random() % 3);
    params.gemm.tiles_n = 1 + static_cast<int>(random() % 2);
    params.gemm.k = 64;
    params.bands = bands_of(walked.tile.m, params.gemm.tiles_n);
    INFO("trial " << trial << ", form " << static_cast<int>(params.groups.form) << ", groups " << groups);

    const auto grid = static_cast<unsigned>(3 + random() % 8);
    std::vector<int> tiles(grid * most_tiles * 5), counts(grid);
    const WalkParams walk_params = {params, tiles.data(), counts.data()};
    emulator::GlobalMemory memory(emulator::MemoryChecks{});
    memory.add(sizes.data(), sizes.size() * sizeof(int), MemoryUse::input, "sizes");
    memory.add(tiles.data(), tiles.size() * sizeof(int), MemoryUse::output, "tiles");
    memory.add(counts.data(), counts.size() * sizeof(int), MemoryUse::output, "counts");
    const emulator::Launch launch = {.entry = &test_group_list,
                                     .params = &walk_params,
                                     .grid = grid,
                                     .threads = 32,
                                     .shared_memory = 1024};
    REQUIRE(emulator::run(launch, memory, {.seed = random()}).fault == "");

    std::vector<Tile5> all;
    for (unsigned block = 0; block < grid; ++block) {
      REQUIRE(counts[block] <= most_tiles);
      int group = 0;
      for (int i = 0; i < counts[block]; ++i) {
        const int* const t = tiles.data() + (block * most_tiles + static_cast<unsigned>(i)) * 5;
        all.push_back({t[0], t[1], t[2], t[3], t[4]});
        CHECK(t[0] >= group);
        group = t[0];
      }
    }
    std::ranges::sort(all);
    CHECK(all == expected(params));
  }
}
