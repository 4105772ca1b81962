#include "lab/emulate/problems.hpp"

#include <iterator>

#include "basic/text.hpp"
#include "lab/operation.hpp"
#include "lab/problems/seed.hpp"

namespace quarry::lab::emulate {

emulator::GuardedEnd guarded_end(std::uint64_t seed) {
  return derived_seed(seed, 1) % 2 == 0 ? emulator::GuardedEnd::back : emulator::GuardedEnd::front;
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

std::vector<std::int64_t> numbers_for(const Kernel& kernel, const ProblemChoice& choice, std::uint64_t seed) {
  return problem_numbers(kernel.metadata(), choice, derived_seed(seed, number_of(kernel.name())));
}

EmulatedProblem random_problem_for(const Kernel& kernel, std::uint64_t seed, std::int64_t number,
                                   std::optional<emulator::CopyTiming> copies) {
  using emulator::CopyTiming;
  constexpr CopyTiming turns[] = {CopyTiming::late, CopyTiming::mixed, CopyTiming::late, CopyTiming::early};
  const std::uint64_t own_seed = derived_seed(seed, static_cast<std::uint64_t>(number));
  const KernelMetadata& metadata = kernel.metadata();
  return {.problem = lab_of(metadata.operation).emulated(metadata, own_seed, number),
          .seed = own_seed,
          .copies = copies.value_or(turns[derived_seed(own_seed, 2) % std::size(turns)]),
          .guarded = guarded_end(own_seed)};
}

std::string replay(const Kernel& kernel, const EmulatedProblem& problem) {
  std::string text = command_text(problem.problem);
  text.erase(0, text.find(' ') + 1);  // the operation, which is the kernel's
  return "quarry emulate " + std::string(kernel.name()) + " " + text + " --seed " +
         std::to_string(problem.seed) + " --copies " + std::string(to_string(problem.copies));
}

}  // namespace quarry::lab::emulate
