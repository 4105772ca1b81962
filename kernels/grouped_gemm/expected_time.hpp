/// The time of a grouped GEMM whose sizes are not known, from the time of batches of equal entries. Host
/// only.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "grouped_gemm/problem.hpp"
#include "quarry/account.hpp"

namespace quarry {

/// A time between the times of fewer and of more tiles a group. @param share of what is between them
inline Account between(const Account& even, const Account& fewer, const Account& more, double share) {
  Account result = even;
  const auto mixed = [&](double less, double greater) { return less + share * (greater - less); };
  for (int part = 0; part < time_part_count; ++part)
    result.seconds_of[part] = mixed(fewer.seconds_of[part], more.seconds_of[part]);
  result.seconds = mixed(fewer.seconds, more.seconds);
  result.waves = mixed(fewer.waves, more.waves);
  return result;
}

/// How a kernel goes through the tiles of groups.
struct TileSteps {
  int tile_m;
  /// A group's last tile takes half of the time if it has so many rows at most; 0: it takes all of it always.
  int half_rows = 0;
  /// Tiles along N, and how many tiles are under way at one time; 0: it is not known.
  int tiles_n = 0;
  int at_once = 0;
};

/// Tiles of a group: how many, and how much of the time of one its last tile saves, as it may take half.
struct GroupTiles {
  double count;
  double saved;
};

/// Tiles of a group of so many rows. At least one.
inline GroupTiles exact_tiles(std::int64_t rows, const TileSteps& steps) {
  const std::int64_t rest = rows % steps.tile_m;
  const bool takes_half = 0 < rest && rest <= steps.half_rows;
  return {std::max(static_cast<double>((rows + steps.tile_m - 1) / steps.tile_m), 1.0), takes_half ? 0.5 : 0};
}

/// Tiles of a group on average, of groups that have so many rows on average and differ as the distances of
/// random cuts do, which are spread exponentially. As many as their room has where they fill it, or would
/// need more. At least one.
inline GroupTiles expected_tiles(double mean_rows, const TileSteps& steps, int room) {
  const auto share_up_to = [&](int rows) { return 1 - std::exp(-rows / std::max(mean_rows, 1.0)); };
  const GroupTiles full = exact_tiles(room, steps);
  const double count = 1 / share_up_to(steps.tile_m);
  if (mean_rows >= room || count >= full.count) return full;
  return {count, 0.5 * share_up_to(steps.half_rows) / share_up_to(steps.tile_m)};
}

/// The time of a batch whose entries have so many tiles along M, which need not be a whole number.
template <class AccountOf>
Account time_of_tiles(GemmProblem batch, double tiles, int tile_m, const AccountOf& account_of) {
  const Account even = account_of(batch);
  const auto with_tiles = [&](int count) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    batch.m = static_cast<int>(std::min(most, std::int64_t{count} * tile_m));
    return account_of(batch);
  };
  const int whole = static_cast<int>(tiles);
  return between(even, with_tiles(whole), with_tiles(whole + 1), tiles - whole);
}

/// The rounds of all tiles, of which the last one is seldom full and some tiles take half, beside what lies
/// between the rounds of whole numbers of tiles a group, `counted` ones on average.
inline double rounds_ratio(const TileSteps& steps, int groups, const GroupTiles& tiles, double counted) {
  const double wide = static_cast<double>(groups) * steps.tiles_n / steps.at_once;
  const double whole = std::floor(counted);
  const double fewer = std::ceil(whole * wide);
  const double assumed = fewer + (counted - whole) * (std::ceil((whole + 1) * wide) - fewer);
  return std::ceil(tiles.count * wide) * (1 - tiles.saved / tiles.count) / assumed;
}

/// The time of groups that have so many tiles each. Where device memory takes longer than the math units,
/// part of what these take is hidden.
template <class AccountOf>
Account time_of_groups(const TileSteps& steps, const GemmProblem& batch, const GroupTiles& tiles,
                       const AccountOf& account_of) {
  constexpr double seen_beside_memory = 0.6;
  const double counted = std::max(tiles.count - tiles.saved, 1.0);
  Account result = time_of_tiles(batch, counted, steps.tile_m, account_of);
  if (steps.at_once == 0) return result;
  double& math = result[TimePart::math];
  const double more = math * (rounds_ratio(steps, batch.batch, tiles, counted) - 1);
  math += more;
  result.seconds += (result.limit() == TimePart::memory ? seen_beside_memory : 1) * more;
  return result;
}

/// The time of groups of rows of which one is larger: of as many tiles, shared by the groups that have rows.
/// Blocks walk over the tiles of all groups, so that it counts how many there are, and how many groups' B is
/// read.
template <class AccountOf>
Account uneven_time(const TileSteps& steps, const GroupedGemmProblem& problem, const AccountOf& account_of) {
  const SmallerGroups smaller = smaller_groups(problem);
  const GroupTiles largest = exact_tiles(problem.expected_largest, steps);
  const GroupTiles other = expected_tiles(smaller.rows, steps, problem.groups.room);
  const auto others = static_cast<double>(smaller.count);
  const GroupTiles tiles = {(largest.count + others * other.count) / (others + 1),
                            (largest.saved + others * other.saved) / (others + 1)};
  GemmProblem batch = even_batch(problem);
  const std::int64_t active = smaller.count + 1;
  batch.batch = static_cast<int>(active);
  batch.m = static_cast<int>(std::max<std::int64_t>((problem.expected_total + active - 1) / active, 1));
  return time_of_groups(steps, batch, tiles, account_of);
}

/// The longer of the time of groups of K that are alike, and of the largest one alone: its tiles are in one
/// piece, so that many multiprocessors do not make them faster.
template <class AccountOf>
Account longer_time(const Account& even, const GroupedGemmProblem& problem, const AccountOf& account_of) {
  GemmProblem largest = even_batch(problem);
  largest.batch = 1;
  largest.k = static_cast<int>(problem.expected_largest);
  const Account alone = account_of(largest);
  return alone.seconds > even.seconds ? alone : even;
}

/// Predicted seconds, and what they are made of. @param account_of of a batch, GemmProblem -> Account
template <class AccountOf>
Account expected_time(const TileSteps& steps, const GroupedGemmProblem& problem,
                      const AccountOf& account_of) {
  GemmProblem batch = even_batch(problem);
  batch.m = std::max(batch.m, 1);
  if (problem.groups.form == GroupForm::ragged_k) {
    const Account even = account_of(batch);
    return is_uneven(problem) ? longer_time(even, problem, account_of) : even;
  }
  if (is_uneven(problem)) return uneven_time(steps, problem, account_of);
  const GroupTiles tiles =
      are_alike(problem) ? exact_tiles(batch.m, steps) : expected_tiles(batch.m, steps, problem.groups.room);
  return time_of_groups(steps, batch, tiles, account_of);
}

}  // namespace quarry
