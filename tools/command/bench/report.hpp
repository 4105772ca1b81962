/// What is shown of a benchmark: a listing, means, a chart, times for calibration.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "lab/bench/result.hpp"
#include "lab/bench/yardstick_library.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {

/// The columns of the listing.
/// @param kind the library that kernels are measured by
/// @param with_library whether it took part; a table leaves its columns out otherwise
std::vector<Column> bench_columns(const lab::YardstickKind& kind, bool with_library);
Cell bench_cell(const lab::BenchResult& result, std::size_t column);
/// The column of the kernel's name.
inline constexpr std::size_t bench_name_column = 1;

/// Geometric means over all problems, each absent where no problem has the ratio.
struct BenchMeans {
  std::optional<double> gaps;          ///< best kernel beside the library's best, with gaps
  std::optional<double> back_to_back;  ///< the same back to back, over the large problems
  std::optional<double> worse;         ///< the same, of each problem the worse
  std::optional<double> first;         ///< predicted first choice beside the best kernel
  std::optional<double> algorithm_first;
  std::optional<double> least;  ///< no mean: the worst problem's `worse`
};

BenchMeans bench_means(std::span<const lab::BenchResult> results);

/// A line for each mean that is there.
std::string means_text(const BenchMeans& means, const lab::YardstickKind& kind);
nlohmann::ordered_json means_json(const BenchMeans& means, const lab::YardstickKind& kind);

/// Each problem's finalists with all their figures.
nlohmann::ordered_json finalists_json(std::span<const lab::BenchResult> results,
                                      const lab::YardstickKind& kind);

/// A chart of the ratios to the library. @pre some problem has one
std::string bench_svg(std::span<const lab::BenchResult> results, const std::string& device,
                      const lab::YardstickKind& kind);

/// A line of JSON for each kernel that was timed: problem, kernel, controls, predicted and measured time.
std::string times_text(const lab::BenchResult& result);

}  // namespace quarry::command
