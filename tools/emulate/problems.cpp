#include "tools/emulate/problems.hpp"

#include "registry/basic/text.hpp"
#include "tools/command/seed.hpp"
#include "tools/command/verify_problems.hpp"

namespace quarry::emulate {

emulator::GuardedEnd guarded_end(std::uint64_t seed) {
  return command::derived_seed(seed, 1) % 2 == 0 ? emulator::GuardedEnd::back : emulator::GuardedEnd::front;
}

std::string_view to_string(emulator::CopyTiming copies) {
  switch (copies) {
    case emulator::CopyTiming::late: return "late";
    case emulator::CopyTiming::early: return "early";
    default: return "mixed";
  }
}

Result<emulator::CopyTiming> parse_copies(std::string_view word) {
  using emulator::CopyTiming;
  for (const CopyTiming copies : {CopyTiming::late, CopyTiming::early, CopyTiming::mixed}) {
    if (word == to_string(copies)) return copies;
  }
  return Status(StatusCode::parse_error,
                "--copies: expected late, early or mixed, got " + detail::quoted(word));
}

EmulatedProblem random_problem_for(const Kernel& kernel, std::uint64_t seed, std::int64_t number,
                                   std::optional<emulator::CopyTiming> copies) {
  using emulator::CopyTiming;
  constexpr CopyTiming turns[] = {CopyTiming::late,  CopyTiming::mixed, CopyTiming::late,
                                  CopyTiming::early, CopyTiming::late,  CopyTiming::mixed};
  EmulatedProblem made;
  made.seed = command::derived_seed(seed, static_cast<std::uint64_t>(number));
  command::Problem problem =
      command::random_problem(command::result_key(kernel.metadata()), made.seed, number);
  const std::int64_t turn = number % round_of_problems;
  if (turn >= round_of_problems / 2) problem.batch = 2;
  if (problem.controls.mode) {
    problem.controls.mode = turn < round_of_problems / 2 ? Mode::split_k_serial : Mode::split_k_parallel;
  }
  problem = command::stored(problem, command::storage_key(kernel.metadata()), made.seed);
  problem.controls = command::controls_for(kernel.metadata(), problem);
  made.problem = problem;
  made.copies = copies.value_or(turns[turn]);
  made.guarded = guarded_end(made.seed);
  return made;
}

std::string replay(const Kernel& kernel, const EmulatedProblem& problem) {
  std::string text = command::command_text(problem.problem);
  constexpr std::string_view operation = "gemm ";
  if (text.starts_with(operation)) text.erase(0, operation.size());
  return "quarry emulate " + std::string(kernel.name()) + " " + text + " --seed " +
         std::to_string(problem.seed) + " --copies " + std::string(to_string(problem.copies));
}

}  // namespace quarry::emulate
