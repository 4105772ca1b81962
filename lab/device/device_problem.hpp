/// A random problem on a device. For the command and tests.
#pragma once

#include "lab/device/device_buffer.hpp"
#include "lab/problems/random_problem.hpp"
#include "quarry/arguments.hpp"
#include "quarry/gemm.hpp"

namespace quarry::detail {

/// Where a copy of a tensor's storage holds the array of pointers to its matrices: so many bytes behind the
/// storage's start, behind the storage itself; and how many bytes it has, 0 where there is none.
std::size_t array_offset(const host::GuardedTensor& tensor);
std::size_t array_bytes(const host::GuardedTensor& tensor);

/// Writes that array, of the matrices of a copy at `storage`, to array_bytes() bytes at `to`.
void write_array(const host::GuardedTensor& tensor, std::byte* storage, void* to);

/// Copies of a RandomProblem's operands, guards and alignment included, in device memory, and the arguments
/// that name them.
struct DeviceProblem {
  /// As RandomProblem::arguments, of a reduction too.
  GemmArguments arguments;
  DeviceBuffer a;
  DeviceBuffer b;
  DeviceBuffer c;
  DeviceBuffer bias;
  DeviceBuffer scale;
  DeviceBuffer residual;
  DeviceBuffer out;
  DeviceBuffer aux;

  /// Copies all operands. Fails as DeviceBuffer does.
  static Result<DeviceProblem> make(const host::RandomProblem& problem, int device);

  /// Copies the host's outputs (`out` and aux) to the device: after RandomProblem::reset_output, what a run
  /// needs.
  Status upload_output(const host::RandomProblem& problem) const;

  /// Waits for the device and copies the outputs, guards included, into the host's;
  /// RandomProblem::check_output and host::compare then judge it. Fails with the device's error where the run
  /// failed.
  Status download_output(host::RandomProblem& problem) const;
};

}  // namespace quarry::detail
