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

/// Predicted seconds, and what they are made of: as sizes are not known, the last tile of a group of rows is
/// half full on average, unless groups are expected to fill their room. @param account_of of a batch,
/// GemmProblem -> Account
template <class AccountOf>
Account expected_time(int tile_m, const GroupedGemmProblem& problem, const AccountOf& account_of) {
  GemmProblem batch = even_batch(problem);
  batch.m = std::max(batch.m, 1);
  const Account even = account_of(batch);
  if (problem.groups.form == GroupForm::ragged_k) return even;
  const double full =
      static_cast<double>((std::int64_t{problem.groups.room} + tile_m - 1) / tile_m);  // no group has more
  const double tiles = std::max(std::min(static_cast<double>(batch.m) / tile_m + 0.5, full), 1.0);
  const auto with_tiles = [&](int count) {
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    batch.m = static_cast<int>(std::min(most, std::int64_t{count} * tile_m));
    return account_of(batch);
  };
  const int whole = static_cast<int>(tiles);
  return between(even, with_tiles(whole), with_tiles(whole + 1), tiles - whole);
}

}  // namespace quarry
