// Queries whose answer gives a row the same bits whatever M is.
#include "quarry/batch_invariant.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string>

#include "basic/words.hpp"
#include "operations/common/sum_class.hpp"
#include "operations/gemm/operation.hpp"

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

/// A fake operand like another, with so many rows. An alignment that depends on the rows is as bad as can be.
TensorView with_rows(const TensorView& view, std::int64_t rows) {
  TensorView made = view;
  const auto address = reinterpret_cast<std::uintptr_t>(view.data);
  if (view.data != nullptr && !view.is_pointer_array)
    made.assumed_alignment = static_cast<std::uint16_t>(1U << std::countr_zero(address | 16U));
  made.data = nullptr;
  if (view.rank < 2 || view.rank > TensorView::max_rank || view.tag != LayoutTag::strided) return made;
  const std::size_t row = view.rank - 2U;
  made.extents[row] = rows;
  if (made.strides[row] == 1 && made.strides[row + 1] != 1) {
    made.strides[row + 1] = rows + 1;
    made.assumed_alignment = static_cast<std::uint16_t>(std::max(1, bytes_of(view.dtype)));
  } else {
    made.strides[row] = std::max(made.strides[row], made.extents[row + 1]);
  }
  if (view.rank == 3 && !view.is_pointer_array)
    made.strides[0] = rows * std::max(made.strides[row], made.strides[row + 1] * made.extents[row + 1]) * 16;
  return made;
}

/// What all problems that differ in M alone have in common, with so many rows.
GemmArguments representative(const GemmArguments& arguments, std::int64_t rows) {
  GemmArguments made{
      .a = with_rows(arguments.a, rows), .b = arguments.b, .out = with_rows(arguments.out, rows)};
  made.b.data = nullptr;
  made.b.assumed_alignment = with_rows(arguments.b, 1).assumed_alignment;
  made.accumulator = arguments.accumulator;
  made.math = arguments.math;
  made.accumulation = arguments.accumulation;
  made.controls = {.mode = Mode::gemm, .split_k_slices = 1};
  return made;
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
        representative(arguments, rows), has_class,
        {.order = Order::registry, .availability = options.availability, .device = options.device});
    if (found.empty()) return found.status();
    standings.add(found);
  }
  return standings.best();
}

Status detail::gemm::Rules::make_invariant(const GemmArguments& arguments, const FindOptions& options,
                                           GemmArguments& whole, Filter& filter) {
  const Result<InvariantClass> chosen = invariant_class(arguments, filter, options);
  if (!chosen) return chosen.status();
  whole = arguments;
  whole.controls.mode = Mode::gemm;
  whole.controls.split_k_slices = 1;
  filter = Filter([chosen = *chosen, asked = filter](const KernelMetadata& kernel) {
    return chosen.holds(kernel) && asked(kernel);
  });
  return {};
}

}  // namespace quarry
