/// The rows of the registry by what they compute.
#pragma once

#include <algorithm>
#include <span>

#include "operations/common/row.hpp"

namespace quarry::test {

/// The rows of an operation, which stand together: keys begin with the operation.
inline std::span<const detail::Row> rows_of(Operation operation) {
  const auto operation_of = [](const detail::Row& row) { return row.metadata.operation; };
  const auto found = std::ranges::equal_range(detail::rows(), operation, {}, operation_of);
  return {found.begin(), found.end()};
}

}  // namespace quarry::test
