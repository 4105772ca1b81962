/// The time of a problem with more blocks than an int counts, as grouped GEMMs and lists may be. Host only.
#pragma once

#include <algorithm>

#include "gemm/host.hpp"
#include "gemm/problem.hpp"
#include "quarry/account.hpp"

namespace quarry {

/// The account of a problem. Where its blocks are too many to be counted, a part of it is accounted for, and
/// all take as long as so many parts.
/// @param account_of GemmProblem -> Account, which counts blocks as ints
template <class AccountOf>
Account account_of_parts(const GemmTraits& kernel, const GemmProblem& problem, const AccountOf& account_of) {
  constexpr int countable = 1 << 30;
  if (gemm_blocks(kernel, problem, 1) <= countable) return account_of(problem);
  GemmProblem part = problem;
  part.batch = 1;
  part.traffic = {};
  const Tile tile = kernel.tile;
  const int tiles_n = std::max(tiles_along(problem.n, tile.n), 1);
  const int tiles_m = std::max(std::min(tiles_along(problem.m, tile.m), countable / tiles_n), 1);
  if (tiles_m < tiles_along(problem.m, tile.m)) {
    part.m = tiles_m * tile.m;
  } else {
    part.batch = std::max(std::min(problem.batch, countable / tiles_n / tiles_m), 1);
  }
  const double parts =
      static_cast<double>(problem.m) / part.m * (static_cast<double>(problem.batch) / part.batch);
  Account account = account_of(part);
  for (double& seconds : account.seconds_of) seconds *= parts;
  account.seconds *= parts;
  account.waves *= parts;
  return account;
}

}  // namespace quarry
