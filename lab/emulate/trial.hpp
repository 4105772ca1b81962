/// One kernel on one problem in the emulator, judged by float64 and by the host executor.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "emulator/guarded_pages.hpp"
#include "emulator/launch.hpp"
#include "lab/emulate/modules.hpp"
#include "lab/problems/operands.hpp"
#include "lab/reference/reference.hpp"
#include "launch.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::emulate {

/// How a problem is run.
struct TrialOptions {
  emulator::Options emulator;
  /// Which end of each operand lies at a guarded page.
  emulator::GuardedEnd guarded = emulator::GuardedEnd::back;
  /// Changes what the host decided for a whole device, such as the grid, before the launch runs; empty:
  /// nothing.
  std::function<void(Launch&)> edit = {};
};

/// How a kernel did.
struct Verdict {
  /// Why it did not run, what it did wrong while it ran, or what it left unwritten or wrote where it must
  /// not.
  Status status;
  /// There where status is ok: against float64, and against what the host executor computes.
  Comparison reference = {};
  Comparison executor = {};
  emulator::Counters counters = {};

  bool right() const { return status && reference.within() && executor.within(); }
  /// What is wrong. @pre !right()
  std::string reason() const;
};

/// Runs the kernel's own source on the operands, of which the outputs then hold the result. Arguments that
/// the kernel does not take are refused with the status of Kernel::run, and nothing is run.
/// @param modules with the entries of the run
Verdict run_trial(const Kernel& kernel, Operands& operands, const Modules& modules,
                  const TrialOptions& options);

}  // namespace quarry::lab::emulate
