/// The output of quarry bench, which grows with each problem that ends.
#pragma once

#include <string>
#include <vector>

#include "lab/output_file.hpp"
#include "tools/command/bench/report.hpp"
#include "tools/command/common/growing_listing.hpp"

namespace quarry::command {

/// Rows on standard output, and lines of times in a file.
class BenchRows {
 public:
  /// @param widest see GrowingListing
  /// @param kind, with_library see bench_columns
  BenchRows(const ListingFlags& flags, const lab::YardstickKind& kind, bool with_library,
            std::vector<std::string> widest);
  BenchRows(const BenchRows&) = delete;
  BenchRows& operator=(const BenchRows&) = delete;

  /// Empties or makes the file of times, where a path is given. Fails with file_error.
  Status open_times(const std::string& path);

  /// Fails where the times cannot be written.
  Status add(const lab::BenchResult& result);

  const std::vector<lab::BenchResult>& results() const { return results_; }

  /// Prints means, and what rows could not show. @param head of a JSON document, in front of the means
  Status end(nlohmann::ordered_json head);

 private:
  ListingFlags flags_;
  const lab::YardstickKind& kind_;
  std::vector<lab::BenchResult> results_;
  GrowingListing listing_;
  lab::GrowingFile times_;
};

/// Texts as wide as the values of bench_columns get, for problems and the kernels that may be their best.
std::vector<std::string> bench_widest(const std::vector<lab::Problem>& problems,
                                      const std::string& longest_kernel, const lab::YardstickKind& kind);

}  // namespace quarry::command
