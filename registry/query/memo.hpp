/// Questions that were asked before, and their answers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "quarry/registry.hpp"
#include "registry/compile/store.hpp"
#include "registry/query/offers.hpp"
#include "registry/query/own_entries.hpp"
#include "registry/tuning/digest.hpp"

namespace quarry::detail {

/// Everything that the best candidate depends on, as bytes: what the operation says of the problem, the
/// options, and the device's number. Without padding.
struct Question {
  static constexpr std::size_t problem_bytes = 52;

  std::array<std::byte, problem_bytes> problem = {};
  /// Which tuning tables there are for the device; 0: none.
  std::uint32_t tuning = 0;
  std::uint64_t max_workspace = 0;
  /// Tells expressions with their outputs' types apart; 0 where there is no expression.
  std::uint64_t expression = 0;
  /// Where `availability` is precompiled: machine_code_epoch.
  std::uint32_t epoch = 0;
  std::uint8_t device = 0;
  Operation operation = {};
  Order order = Order::best_first;
  Availability availability = Availability::any;
};
static_assert(std::has_unique_object_representations_v<Question> && sizeof(Question) % 8 == 0);

/// The question for the best candidate of any kind. @param problem the operation's own, without padding. By
/// its digest where it is long
/// @param tuning as Question::tuning
template <class OfProblem>
Question make_question(Operation operation, const OfProblem& problem, const FindOptions& options,
                       std::size_t device, std::uint32_t tuning) {
  static_assert(std::has_unique_object_representations_v<OfProblem>, "compared as bytes");
  static_assert(most_devices <= 256);
  const bool by_code = options.availability == Availability::precompiled;
  Question question = {.tuning = tuning,
                       .max_workspace = options.max_workspace,
                       .epoch = by_code ? machine_code_epoch() : 0,
                       .device = static_cast<std::uint8_t>(device),
                       .operation = operation,
                       .order = options.order,
                       .availability = options.availability};
  if constexpr (sizeof problem <= Question::problem_bytes) {
    std::memcpy(question.problem.data(), &problem, sizeof problem);
  } else {
    const Digest digest = digest_of(std::as_bytes(std::span(&problem, 1)));
    static_assert(sizeof digest <= Question::problem_bytes);
    std::memcpy(question.problem.data(), &digest, sizeof digest);
  }
  return question;
}

/// The best candidate, and how many there are.
struct Answer {
  Offer offer;
  std::size_t matched = 0;
};

/// What this thread asked lately: null where it did not. Valid until the next remember().
const Answer* recall(const Question& question);

/// Keeps an answer, in the place of an older one.
void remember(const Question& question, const Answer& answer);

}  // namespace quarry::detail
