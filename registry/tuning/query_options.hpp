/// Options of a query that its first choice depends on, as logs and tuning tables keep them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "registry/tuning/measurement.hpp"

namespace quarry::detail {

/// The part of FindOptions that belongs to a problem. The default is a plain query.
struct QueryOptions {
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  bool batch_invariant = false;
  /// Bytes.
  std::size_t max_workspace = no_limit;

  /// @param max_workspace no_limit, too, where it is more than a line can say
  static QueryOptions of(bool batch_invariant, std::size_t max_workspace) {
    const bool limits = max_workspace <= std::numeric_limits<std::int64_t>::max();
    return {batch_invariant, limits ? max_workspace : no_limit};
  }

  bool is_plain() const { return *this == QueryOptions(); }
  friend bool operator==(const QueryOptions&, const QueryOptions&) = default;
};

/// The words behind a problem: "" of a plain query, else " --batch-invariant --max-workspace 1024" or one of
/// the two.
std::string words_of(const QueryOptions& options);

/// The key of a problem that is asked about with options. A plain query has the problem's own key.
TuningKey key_under(const TuningKey& problem, const QueryOptions& options);

/// The options whose measurements serve a query, the best fitting first: its own, its own without a limit of
/// workspace, the plain ones. The last ones may be equal.
std::array<QueryOptions, 3> options_to_look_up(const QueryOptions& options);

}  // namespace quarry::detail
