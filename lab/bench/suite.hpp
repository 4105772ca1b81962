/// A benchmark of many problems, one after another, of which each result is passed on as soon as it is there.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lab/bench/record.hpp"
#include "lab/bench/result.hpp"

namespace quarry::lab {

struct BenchSuite {
  const std::vector<Problem>& problems;
  /// Of the operands. Several problems derive theirs from it.
  std::uint64_t seed = 0;
  /// Measures one problem: bench_shape, or a stand-in.
  std::function<Result<BenchResult>(const Problem& problem, std::uint64_t seed)> measure;
  /// Is given each result, in the order of the problems; a failure ends the benchmark.
  std::function<Status(const BenchResult& result)> ended;
  /// Is told of each problem that could not be measured; the next one follows.
  std::function<void(const Problem& problem, const Status& why)> failed;
};

/// Measures all problems that the record does not have, and adds them to it before they are passed on. Fails
/// where `ended` does, and where the record cannot be written.
/// @param record opened with BenchRecord::open, if any problem is to be measured
Status run_suite(const BenchSuite& suite, BenchRecord& record);

}  // namespace quarry::lab
