/// Why a kernel is predicted to be as fast as it is: the parts of the time by which candidates are ranked.
#pragma once

#include <string_view>

#include "quarry/arguments.hpp"
#include "quarry/status.hpp"

namespace quarry {

class Kernel;
struct FindOptions;

/// A part of a predicted time.
enum class TimePart : unsigned char {
  launch,    ///< starting the kernel, and clearing the workspace
  memory,    ///< device memory: each byte of the operands once
  math,      ///< the math units
  copies,    ///< bringing operands to shared memory, and reading them there
  latency,   ///< waiting for copies
  ends,      ///< filling the pipeline and going from tile to tile
  epilogue,  ///< from the sums to the output
  exchange,  ///< adding up what the slices of K computed, and what reductions of expressions leave
};
inline constexpr int time_part_count = 8;

/// "launch", "memory", ...
std::string_view to_string(TimePart part);

/// What the ranking expects of one candidate. Seconds count on the slowest multiprocessor. Parts overlap,
/// so that their sum is longer than the whole.
struct Account {
  /// Operations on elements that the problem needs; bytes of operands, each counted once.
  double operations = 0;
  double bytes = 0;
  /// How many times the blocks fill the device; 0.5: half of it is idle.
  double waves = 0;
  /// Each part alone.
  double seconds_of[time_part_count] = {};
  /// Together: Candidate::predicted_seconds, not rounded.
  double seconds = 0;

  double operator[](TimePart part) const { return seconds_of[static_cast<int>(part)]; }
  double& operator[](TimePart part) { return seconds_of[static_cast<int>(part)]; }
  /// The longest part: what bounds the time.
  TimePart limit() const;
};

/// The account of a kernel for a problem, with the controls that a query with these options chooses. Fails as
/// candidate_of does. It comes from the model that ranks; candidates have equal predictions with equal
/// options.
Result<Account> account_of(const Kernel& kernel, Arguments arguments);
Result<Account> account_of(const Kernel& kernel, Arguments arguments, const FindOptions& options);

}  // namespace quarry
