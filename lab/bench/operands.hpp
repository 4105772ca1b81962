/// Operands of one problem, many times over: more data than a device's L2 holds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lab/device/device_buffer.hpp"
#include "lab/problems/problem.hpp"
#include "lab/problems/random_problem.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// Bytes of a problem's operands that a run touches: A and B or partial sums, the output, and C, residual and
/// aux where there are such.
double touched_bytes(const Problem& problem);

/// How many sets of operands of so many bytes are more than `l2` bytes of cache, by far: 2 at least, and so
/// many at most that small ones can still be made.
std::size_t sets_for(double bytes, double l2);

/// Sets of random operands on the device, all with the same values, at least four times the L2 in all; and
/// what their result should be. Movable.
class BenchOperands {
 public:
  /// Fails where memory runs out, of the host or the device.
  static Result<BenchOperands> make(const Problem& problem, std::uint64_t seed);

  std::size_t sets() const { return sets_; }
  /// The problem with the first set's data.
  Arguments arguments() const { return arguments_of(arguments_, host_.slices); }
  /// The pointers of a set.
  PlanOperands operands(std::size_t set) const;

  /// Poisons the outputs, or makes that of the first set what C is where C is the output.
  Status reset();
  /// Waits for the device and compares the first set's `out` with the reference: all of a small one, else
  /// some rows.
  Result<host::Comparison> check(const host::Tolerance& tolerance);

 private:
  /// One operand: its sets lie `period` bytes apart, the first element (of an array of pointers: the array)
  /// `offset` bytes into each.
  struct Rotating {
    detail::DeviceBuffer buffer;
    std::size_t period = 0;
    std::size_t offset = 0;

    std::byte* data(std::size_t set) const {
      auto* const first = static_cast<std::byte*>(buffer.data());
      return first == nullptr ? nullptr : first + set * period + offset;
    }
  };

  static Status copy(const host::GuardedTensor& tensor, std::size_t sets, Rotating& rotating,
                     TensorView& view);
  Status copy_epilogue();
  Status download_rows();

  std::size_t sets_ = 0;
  host::RandomProblem host_;
  host::Reference reference_;
  /// As RandomProblem::arguments, of a reduction too.
  GemmArguments arguments_;
  Rotating a_;
  Rotating b_;
  Rotating c_;
  Rotating bias_;
  Rotating scale_;
  Rotating residual_;
  Rotating aux_;
  Rotating out_;
};

}  // namespace quarry::lab
