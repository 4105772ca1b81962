/// Why rows were left out of an answer.
#pragma once

#include <cstddef>
#include <vector>

#include "quarry/registry.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// What became of a row in a query.
enum class Verdict : unsigned char {
  taken,
  unsupported,      ///< a constraint of the kernel
  filtered,         ///< the predicate
  not_precompiled,  ///< FindOptions::availability
  over_workspace,   ///< FindOptions::max_workspace
  other_class,      ///< FindOptions::batch_invariant
};

/// Counts what became of the rows of a query.
class Tally {
 public:
  /// @param why of an unsupported row, otherwise ok
  void count(Verdict verdict, const Status& why);

  /// What was left out, most frequent reason first, with the first message of each.
  std::vector<Rejection> rejections() const;

  /// Why nothing was taken: filtered_out where the filter or the options left something out, else
  /// unsupported.
  /// @pre nothing was taken, something was counted
  Status why_empty() const;

 private:
  struct Reasoned {
    Status first;
    std::size_t kernels;
  };
  std::vector<Reasoned> unsupported_;  // by reason and operand, of a text by its message
  std::size_t by_verdict_[6] = {};
};

}  // namespace quarry::detail
