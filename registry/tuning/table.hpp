/// A tuning table in memory: a set of measurements.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "quarry/status.hpp"
#include "registry/tuning/measurement.hpp"

namespace quarry::detail {

/// Files of a user are read up to this length.
inline constexpr std::size_t most_table_bytes = std::size_t{1} << 30;

/// M of a problem in a table is at most this.
inline constexpr std::int64_t most_tuned_m = 0x7fffffff;

/// Measurements by their ids. The union of two tables does not depend on their order, and a table joined
/// with itself is itself.
class TuningTable {
 public:
  using Measurements = std::map<Digest, Measurement>;

  const Measurements& measurements() const { return measurements_; }
  std::size_t size() const { return measurements_.size(); }

  /// @pre is_writable(measurement)
  void add(const Measurement& measurement);
  /// Adds all of another table, its lines of a later version, and its count of damaged ones.
  void join(const TuningTable& other);
  /// Adds the lines of a text. Lines that cannot be read are counted and skipped; empty ones are nothing.
  void read(std::string_view text);

  /// Lines that `read` skipped, and lines of a later version, which are kept as they are.
  std::size_t damaged() const { return damaged_; }
  std::size_t future() const { return future_.size(); }
  /// Forgets the count of damaged lines, which it returns: the text has none of them.
  std::size_t forget_damaged() { return std::exchange(damaged_, 0); }

  /// All measurements, a line each, in the order of their ids, then the lines of a later version in theirs:
  /// the same set gives the same text.
  std::string text() const;

 private:
  Measurements measurements_;
  std::size_t damaged_ = 0;
  std::set<std::string, std::less<>> future_;
};

/// The table of a file. Fails with file_error where it cannot be read or is longer than most_table_bytes, and
/// with parse_error where it has lines and none of them is a line of a table. The messages name the path.
Result<TuningTable> read_table(const std::string& path);

}  // namespace quarry::detail
