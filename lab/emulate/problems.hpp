/// The problems on which kernels run in the emulator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/launch.hpp"
#include "lab/emulate/trial.hpp"
#include "lab/problems/problem.hpp"
#include "lab/verify/path_order.hpp"
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

/// The numbers of a kernel's problems in their order (problem_numbers): the seed and the kernel choose which
/// path comes first.
std::vector<std::int64_t> numbers_for(const Kernel& kernel, const ProblemChoice& choice, std::uint64_t seed);

/// Problem `number` of a kernel (OperationLab::emulated). @param copies nothing: they take turns
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
