/// The parts of a range of M that a tuning measures one by one.
///
/// The key of a problem has the alignments of its operands. Where M is a leading dimension (a column-major A,
/// C or output), they change from one M to the next, and with them the kernels that take the problem. So each
/// alignment has measurements of its own, or tables would not answer for the values of M between.
#pragma once

#include <string>
#include <vector>

#include "lab/problems/problem.hpp"
#include "lab/tune/m_range.hpp"

namespace quarry::lab {

/// A range in parts.
struct RangeParts {
  /// Values of M whose problems have one key, the best aligned first; the whole range where all have the
  /// same. M = 1, whose problem may have a key of its own, is measured with the odd ones.
  std::vector<MRange> parts;
  /// Values of M with which there is no such problem, and why; 0: no values.
  TwosOfM refused = 0;
  Status why = {};
};

/// Fails where no M of the range makes a problem.
/// @pre has_m(problem.operation())
Result<RangeParts> parts_of(const Problem& problem, const MRange& range);

}  // namespace quarry::lab
