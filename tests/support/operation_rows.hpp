/// The rows of the registry by what they compute.
#pragma once

#include <algorithm>
#include <span>

#include "operations/common/row.hpp"

namespace quarry::test {

/// The rows of an operation, which stand together: keys begin with the operation.
inline std::span<const detail::Row> rows_of(Operation operation) {
  const auto before = [](const detail::Row& row, Operation of) { return row.metadata.operation < of; };
  const auto behind = [](Operation of, const detail::Row& row) { return of < row.metadata.operation; };
  const auto rows = detail::rows();
  return {std::lower_bound(rows.begin(), rows.end(), operation, before),
          std::upper_bound(rows.begin(), rows.end(), operation, behind)};
}

}  // namespace quarry::test
