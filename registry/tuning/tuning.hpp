/// The tuning tables of this process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operations/common/row.hpp"
#include "registry/tuning/index.hpp"

namespace quarry::detail {

/// The joined tables, with the rows of their kernels. Immutable.
struct Tuning {
  TuningIndex index;
  /// By TunedChoice::kernel; null: not registered here.
  std::vector<const Row*> rows;
  /// Another one for each state of the tables; above 0.
  std::uint32_t epoch = 0;
  /// The state that was made before this one.
  const Tuning* previous = nullptr;
};

/// The present state; null where there is no table. It stays valid to the end of the process. The first call
/// loads the tables of the environment. Takes no lock.
const Tuning* tuning();

}  // namespace quarry::detail
