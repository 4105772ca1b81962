/// Operands of one problem, many times over: more data than a device's L2 holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/device/device_buffer.hpp"
#include "lab/problems/operands.hpp"
#include "lab/problems/problem.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// How many sets of operands of so many bytes are more than `l2` bytes of cache, by far: 2 at least, and so
/// many at most that small ones can still be made.
std::size_t sets_for(double bytes, double l2);

/// Sets of random operands on the device, all with the same values, at least four times the L2 in all; and
/// what their result should be. Movable.
class BenchOperands {
 public:
  /// Fails where memory runs out, of the host or the device.
  /// @param stored the problem's arguments, whose fake tensors say how each operand is stored
  static Result<BenchOperands> make(const Problem& problem, const HeldArguments& stored, std::uint64_t seed);

  std::size_t sets() const { return sets_; }
  /// The arguments with the first set's data.
  const HeldArguments& arguments() const { return arguments_; }
  /// The pointers of a set.
  PlanOperands operands(std::size_t set) const;

  /// What should come of another problem over the same operands, of which it may leave some out.
  Result<Reference> reference_of(const Problem& other);

  /// Poisons the outputs, or makes the first one of the first set what it is in the place of.
  Status reset();
  /// Waits for the device and compares the first set's outputs with the problem's own reference, or another
  /// one: all of a small one, else some rows. The first output that is wrong counts.
  Result<Comparison> check(const Tolerance& tolerance) { return check(tolerance, reference_); }
  Result<Comparison> check(const Tolerance& tolerance, const Reference& reference);

 private:
  /// One operand: its sets lie `period` bytes apart, the first element (of an array of pointers: the array)
  /// `offset` bytes into each.
  struct Rotating {
    DeviceBuffer buffer;
    std::size_t period = 0;
    std::size_t offset = 0;

    std::byte* data(std::size_t set) const {
      return static_cast<std::byte*>(buffer.data()) + set * period + offset;
    }
  };

  BenchOperands(Operands host, std::size_t sets)
      : sets_(sets), host_(std::move(host)), arguments_(host_.arguments()) {}
  Status copy(const GuardedTensor& tensor);
  Status reset(std::size_t tensor);
  Result<Comparison> check(const Tolerance& tolerance, const Expected& expected);
  Status download_rows(std::size_t tensor, const Expected& expected);

  std::size_t sets_;
  Operands host_;
  Reference reference_;
  HeldArguments arguments_;
  /// As the host's tensors.
  std::vector<Rotating> rotating_;
};

}  // namespace quarry::lab
