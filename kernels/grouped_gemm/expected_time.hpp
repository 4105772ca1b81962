/// The time of a grouped GEMM whose sizes are not known, from the time of batches of equal entries. Host
/// only.
#pragma once

#include <algorithm>
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

/// How a kernel goes through the rows of a group: by tiles of so many rows, of which the last one takes half
/// of the time if it has `half_rows` at most; 0: it takes all of it always.
struct RowSteps {
  int tile_m;
  int half_rows = 0;
};

/// Tiles that cover the rows of a group on average, whose last one is half full, unless the group is expected
/// to fill its room. A tile of half the time counts as half a tile. At least 1.
inline double expected_tiles(double rows, const RowSteps& steps, const GroupParams& groups) {
  const double tile_m = steps.tile_m;
  const double full = static_cast<double>((std::int64_t{groups.room} + steps.tile_m - 1) /
                                          steps.tile_m);  // no group has more
  const double behind_end = 0.5 - 0.5 * steps.half_rows / tile_m;
  return std::max(std::min(rows / tile_m + behind_end, full), 1.0);
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

/// The time of groups of rows of which one is larger: of as many tiles, shared by the groups that have rows.
/// Blocks walk over the tiles of all groups, so that it counts how many there are, and how many groups' B is
/// read.
template <class AccountOf>
Account uneven_time(const RowSteps& steps, const GroupedGemmProblem& problem, const AccountOf& account_of) {
  const SmallerGroups smaller = smaller_groups(problem);
  const double largest = expected_tiles(static_cast<double>(problem.expected_largest), steps, problem.groups);
  const double others =
      static_cast<double>(smaller.count) * expected_tiles(smaller.rows, steps, problem.groups);
  GemmProblem batch = even_batch(problem);
  const std::int64_t active = smaller.count + 1;
  batch.batch = static_cast<int>(active);
  batch.m = static_cast<int>(std::max<std::int64_t>((problem.expected_total + active - 1) / active, 1));
  return time_of_tiles(batch, (largest + others) / static_cast<double>(active), steps.tile_m, account_of);
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
Account expected_time(const RowSteps& steps, const GroupedGemmProblem& problem, const AccountOf& account_of) {
  GemmProblem batch = even_batch(problem);
  batch.m = std::max(batch.m, 1);
  if (problem.groups.form == GroupForm::ragged_k) {
    const Account even = account_of(batch);
    return is_uneven(problem) ? longer_time(even, problem, account_of) : even;
  }
  if (is_uneven(problem)) return uneven_time(steps, problem, account_of);
  return time_of_tiles(batch, expected_tiles(batch.m, steps, problem.groups), steps.tile_m, account_of);
}

}  // namespace quarry
