/// Answers of queries that must be the same.
#pragma once

#include <cstddef>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

inline void check_same(const Candidate& one, const Candidate& other) {
  REQUIRE(one.name() == other.name());
  REQUIRE(one.predicted_seconds() == other.predicted_seconds());
  REQUIRE(one.workspace() == other.workspace());
  REQUIRE(one.controls().mode == other.controls().mode);
  REQUIRE(one.controls().split_k_slices == other.controls().split_k_slices);
  REQUIRE(one.controls().swizzle == other.controls().swizzle);
  REQUIRE(one.controls().raster == other.controls().raster);
  REQUIRE(one.controls().multiprocessors == other.controls().multiprocessors);
}

inline void check_same(const CandidateList& one, const CandidateList& other) {
  REQUIRE(one.status().code() == other.status().code());
  REQUIRE(one.status().message() == other.status().message());
  REQUIRE(one.matched() == other.matched());
  REQUIRE(one.size() == other.size());
  for (std::size_t i = 0; i < one.size(); ++i) check_same(one[i], other[i]);
}

}  // namespace quarry::test
