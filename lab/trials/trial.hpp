/// One kernel on one problem, judged: what run and verify have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "lab/device/device_operands.hpp"
#include "lab/problems/problem.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab {

/// The CUDA device that the command works on.
inline constexpr int used_device = 0;

/// Where kernels run.
enum class Place { host, device };

/// "host" or "device".
std::string_view to_string(Place place);

/// The place of that name, or, for an empty one, the device where there is one. Fails on another word, and
/// with no_device for a device that is not there.
Result<Place> read_place(const std::string& name);

/// A problem's operands, on the host and, where kernels run there, on the device. Movable.
struct TrialProblem {
  Operands host;
  /// Empty when the place is the host.
  std::optional<DeviceOperands> device;

  /// Random operands of this seed. Fails when memory runs out.
  static Result<TrialProblem> make(const Problem& problem, std::uint64_t seed, Place place);

  /// The arguments that kernels are given.
  const HeldArguments& arguments() const { return device ? device->arguments() : host.arguments(); }
};

/// How a kernel did.
struct Verdict {
  /// Why it did not run, or what it left unwritten or wrote where it must not.
  Status status;
  /// What it computed; there where status is ok.
  Comparison comparison = {};

  bool right() const { return status && comparison.within(); }
  /// What is wrong, in one line. @pre !right()
  std::string reason() const;
};

/// Memory that a kernel needs beside its operands, poisoned, with a guard behind it.
class TrialWorkspace {
 public:
  static Result<TrialWorkspace> make(std::size_t bytes, Place place);
  Workspace workspace() const;
  /// Whether nothing behind the workspace was written.
  Status check() const;

 private:
  std::size_t bytes_ = 0;
  /// One of the two.
  DeviceBuffer device_;
  std::vector<std::byte> host_;
  bool on_device_ = false;
};

/// Runs the kernel with these controls on poisoned memory and compares with the reference.
Verdict run_trial(const Kernel& kernel, const Controls& controls, TrialProblem& problem,
                  const Reference& reference);

}  // namespace quarry::lab
