// Queries whose answer gives a row the same bits whatever M is.
#include "quarry/batch_invariant.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include "basic/words.hpp"
#include "operations/common/sum_class.hpp"
#include "operations/gemm/operation.hpp"
#include "operations/gemm/representative.hpp"

namespace quarry {
namespace {

/// Numbers of rows for which the class is chosen together: few, some and many.
constexpr std::int64_t representative_rows[] = {16, 256, 4096};

Status check_whole(const Controls& controls) {
  const bool cuts =
      controls.mode.value_or(Mode::gemm) != Mode::gemm || controls.split_k_slices.value_or(1) > 1;
  if (!cuts) return {};
  return {StatusCode::invalid_arguments,
          "A batch-invariant query leaves K in one piece: expected mode gemm and one slice, got " +
              std::string(to_string(controls.mode.value_or(Mode::gemm))) + " and " +
              std::to_string(controls.split_k_slices.value_or(1))};
}

/// How classes stand over all representative problems.
class Standings {
 public:
  /// Adds the best time of each class.
  void add(const CandidateList& found) {
    double best[class_count][math_count] = {};
    for (const Candidate& kernel : found) {
      const KernelMetadata& metadata = kernel.metadata();
      double& seconds = best[static_cast<std::size_t>(*sum_class(metadata))]
                            [static_cast<std::size_t>(metadata.design.math)];
      if (seconds == 0 || kernel.predicted_seconds() < seconds) seconds = kernel.predicted_seconds();
    }
    for (std::size_t row = 0; row < class_count; ++row) {
      for (std::size_t column = 0; column < math_count; ++column) {
        if (best[row][column] == 0) continue;
        ++of_[row][column].problems;
        of_[row][column].logarithms += std::log(best[row][column]);
      }
    }
    ++problems_;
  }

  /// The class with the least geometric mean, of those that solve all problems.
  InvariantClass best() const {
    InvariantClass best;
    const Standing* least = nullptr;
    for (std::size_t row = 0; row < class_count; ++row) {
      for (std::size_t column = 0; column < math_count; ++column) {
        const Standing& standing = of_[row][column];
        if (standing.problems != problems_) continue;
        if (least != nullptr && standing.logarithms >= least->logarithms) continue;
        least = &standing;
        best = {static_cast<SumClass>(row), static_cast<Math>(column)};
      }
    }
    return best;
  }

 private:
  struct Standing {
    int problems = 0;
    double logarithms = 0;
  };
  static constexpr std::size_t class_count = std::size(detail::sum_class_words);
  static constexpr std::size_t math_count = std::size(detail::math_words);

  Standing of_[class_count][math_count];
  int problems_ = 0;
};

}  // namespace

std::string_view to_string(SumClass sum_class) { return detail::word_of(detail::sum_class_words, sum_class); }

std::optional<SumClass> sum_class(const KernelMetadata& kernel) { return detail::sum_class_of(kernel); }

Result<InvariantClass> invariant_class(const GemmArguments& arguments, const Filter& filter,
                                       const FindOptions& options) {
  if (Status s = check_whole(arguments.controls); !s) return s;
  if (arguments.a_scale || arguments.b_scale) {
    return Status(StatusCode::unsupported, "Batch-invariant queries take no scales of operands yet");
  }
  const Filter has_class(
      [&filter](const KernelMetadata& kernel) { return sum_class(kernel).has_value() && filter(kernel); });
  Standings standings;
  for (const std::int64_t rows : representative_rows) {
    // In this order no tuning table is asked: the class is the same whatever was measured.
    const CandidateList found = get_kernels(
        detail::gemm::representative(arguments, rows), has_class,
        {.order = Order::registry, .availability = options.availability, .device = options.device});
    if (found.empty()) return found.status();
    standings.add(found);
  }
  return standings.best();
}

Result<InvariantClass> detail::gemm::Rules::required_class(const GemmArguments& arguments,
                                                           const Filter& filter, const FindOptions& options) {
  return invariant_class(arguments, filter, options);
}

Status detail::gemm::Rules::make_invariant(const GemmArguments& arguments, const FindOptions& options,
                                           GemmArguments& whole, Filter& filter) {
  const Result<InvariantClass> chosen = invariant_class(arguments, filter, options);
  if (!chosen) return chosen.status();
  whole = arguments;
  whole.controls = in_one_piece(whole.controls);
  filter = Filter([chosen = *chosen, asked = filter](const KernelMetadata& kernel) {
    return chosen.holds(kernel) && asked(kernel);
  });
  return {};
}

}  // namespace quarry
