/// What the models of GEMM families note while they add up a time, for an account of it. Host only.
#pragma once

#include <cmath>

#include "gemm/problem.hpp"
#include "quarry/account.hpp"

namespace quarry {

/// The account of a kernel on a problem, as far as it is the problem's.
/// @param memory seconds that device memory needs for `bytes` bytes
inline Account begin_account(const GemmProblem& problem, double memory, double bytes) {
  Account account;
  account.operations = 2.0 * problem.m * problem.n * problem.k * problem.batch;
  account.bytes = std::round(bytes);  // it was divided by a rate on its way
  account[TimePart::memory] = memory;
  return account;
}

/// Everything that is computed from K tiles takes `factor` times as long as noted so far.
inline void scale_parts(Account& account, double factor) {
  for (const TimePart part : {TimePart::memory, TimePart::math, TimePart::copies, TimePart::latency,
                              TimePart::ends, TimePart::epilogue})
    account[part] *= factor;
}

}  // namespace quarry
