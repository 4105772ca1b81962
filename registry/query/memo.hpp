/// Questions that were asked before, and their answers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gemm/problem.hpp"
#include "operations/common/row.hpp"
#include "quarry/registry.hpp"
#include "registry/query/profiles.hpp"

namespace quarry::detail {

/// Everything that the best candidate for a problem depends on, and nothing else: no pointers and no strides,
/// but which layouts and alignments they give.
struct Question {
  /// Of one operand, in each layout: whether it fits, how it is aligned, whether its lines overlap or all lie
  /// at one place or begin at multiples of which power of two, whether a stride is longer than tensor maps
  /// can have.
  struct Access {
    std::uint16_t row = 0;
    std::uint16_t column = 0;
    friend constexpr bool operator==(const Access&, const Access&) = default;
  };

  int m = 0;
  int n = 0;
  int k = 0;
  int batch = 0;
  Types types = {};
  Math math = Math::exact;
  Access a;
  Access b;
  Access out;
  int epilogue_matrices = 1;
  bool has_arrays = false;
  Order order = Order::best_first;
  Availability availability = Availability::any;
  std::uint8_t mode = 0;    ///< 0: open
  int slices = 0;           ///< 0: open
  int swizzle = 0;          ///< 0: open
  std::uint8_t raster = 0;  ///< 0: open
  int multiprocessors = 0;  ///< 0: open
  std::size_t max_workspace = 0;
  /// Stands for the device's numbers.
  const DeviceProfiles* device = nullptr;

  friend constexpr bool operator==(const Question&, const Question&) = default;
};

/// The question for the best candidate of any kind.
Question question(const GemmProblem& problem, const FindOptions& options, const DeviceProfiles& device);

/// The best candidate, and how many there are.
struct Answer {
  const Row* row = nullptr;
  ChosenControls controls;
  double seconds = 0;
  std::size_t workspace = 0;
  std::size_t matched = 0;
};

/// What this thread asked lately: null where it did not. Valid until the next remember().
const Answer* recall(const Question& question);

/// Keeps an answer, in the place of an older one.
void remember(const Question& question, const Answer& answer);

}  // namespace quarry::detail
