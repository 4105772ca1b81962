/// The problems on which kernels run in the emulator.
#pragma once

#include <cstdint>
#include <string>

#include "emulator/launch.hpp"
#include "lab/emulate/trial.hpp"
#include "lab/problems/problem.hpp"
#include "quarry/kernel.hpp"

namespace quarry::lab::emulate {

/// A problem for one kernel, with how it is run.
struct EmulatedProblem {
  Problem problem;
  /// That of the operands and of the emulator's order.
  std::uint64_t seed = 0;
  emulator::CopyTiming copies = emulator::CopyTiming::late;
  emulator::GuardedEnd guarded = emulator::GuardedEnd::back;
};

/// Problems in one round, whose kinds take turns (OperationLab::emulated). All strides are padded.
inline constexpr std::int64_t round_of_problems = 6;

/// Problem number `number` of a kernel: sizes, strides at exactly the kernel's alignment, epilogue, controls.
/// @param copies nothing: they take turns
EmulatedProblem random_problem_for(const Kernel& kernel, std::uint64_t seed, std::int64_t number,
                                   std::optional<emulator::CopyTiming> copies);

/// Which end is guarded, by the seed alone, so that a command with the same seed does the same.
emulator::GuardedEnd guarded_end(std::uint64_t seed);

/// The command that runs the kernel on the problem again.
std::string replay(const Kernel& kernel, const EmulatedProblem& problem);

/// "late", "early" or "mixed", and back.
std::string_view to_string(emulator::CopyTiming copies);
Result<emulator::CopyTiming> parse_copies(std::string_view word);

}  // namespace quarry::lab::emulate
