/// Problems as tuning tables know them, and what the tables say of them.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "chosen_controls.hpp"
#include "operations/common/operand_list.hpp"
#include "quarry/device_model.hpp"
#include "quarry/registry.hpp"
#include "registry/operation.hpp"
#include "registry/tuning/problem_log.hpp"
#include "registry/tuning/tuning.hpp"

namespace quarry::detail {

/// Operations whose problems have a key, for tables or for logs alone.
template <class Rules>
concept HasTuningKeys = requires(const typename Rules::Problem& problem,
                                 typename Rules::TuningQuestion& question) {
  Rules::tuning_question(problem, question);
};
/// Operations whose problems have one kernel to choose from. They say so.
template <class Rules>
concept HasNoChoice = requires {
  Rules::no_tuning;
};
/// Operations whose kernels are tuned.
template <class Rules>
concept IsTuned = HasTuningKeys<Rules> && !HasNoChoice<Rules>;
/// Operations that say which expression a problem has.
template <class Rules>
concept HasExpressions = requires(const typename Rules::Problem& problem) {
  Rules::expression_hash(problem);
};
/// Operations whose problems say what the caller chose of the controls.
template <class Rules>
concept HasOpenControls = requires(const typename Rules::Problem& problem) {
  problem.controls;
};

template <class Rules>
TuningKey tuning_key_of(const typename Rules::Problem& problem) {
  using Question = typename Rules::TuningQuestion;
  static_assert(std::has_unique_object_representations_v<Question>, "digested as bytes");
  Question question;
  const std::int64_t m = Rules::tuning_question(problem, question);
  const auto seed = static_cast<std::uint64_t>(Rules::Arguments::operation) + 1;
  TuningKey key = {digest_of(std::as_bytes(std::span(&question, 1)), seed), m};
  if constexpr (HasExpressions<Rules>) {
    if (const std::uint64_t expression = Rules::expression_hash(problem); expression != 0)
      key.digest = joined(key.digest, {expression, mixed(expression)});
  }
  return key;
}

/// OperationInfo::tuning_key.
template <class Rules>
Result<TuningKey> tuning_key_of_arguments(const void* of) {
  const auto& arguments = *static_cast<const typename Rules::Arguments*>(of);
  OperandList operands;
  Rules::operands(arguments, operands);
  typename Rules::Problem problem;
  if (Status s = Rules::check(arguments, operands, problem); !s) return s;
  return tuning_key_of<Rules>(problem);
}
template <class Rules>
constexpr auto tuning_key_call() -> Result<TuningKey> (*)(const void*) {
  if constexpr (HasTuningKeys<Rules>) return &tuning_key_of_arguments<Rules>;
  return nullptr;
}
/// OperationInfo::no_tuning.
template <class Rules>
constexpr std::string_view no_tuning_of() {
  if constexpr (IsTuned<Rules>) return "";
  if constexpr (HasNoChoice<Rules>) return Rules::no_tuning;
  return "its problems have no keys";
}

/// OperationInfo::command_text.
template <class Rules>
constexpr auto command_text_call() -> std::string (*)(const void*) {
  if constexpr (HasTuningKeys<Rules>)
    return [](const void* arguments) {
      return Rules::command_text(*static_cast<const typename Rules::Arguments*>(arguments));
    };
  return nullptr;
}

/// Whether an operand has no elements: such a problem has nothing to compute, and is not timed.
template <class Rules>
bool has_empty_operand(const typename Rules::Arguments& arguments) {
  OperandList operands;
  Rules::operands(arguments, operands);
  return std::any_of(operands.begin(), operands.end(), [](const OperandRef& operand) {
    const TensorView& view = *operand.view;
    return std::any_of(view.extents.begin(), view.extents.begin() + view.rank,
                       [](std::int64_t extent) { return extent == 0; });
  });
}

/// Logs a problem where the environment asks for it, except one that has nothing to compute. In another order
/// than by time no table is asked, and the answer is not the kernel that a program would run. The line has
/// the arguments and options as the caller gave them. @pre the arguments were checked, and there is a kernel
/// that takes them
template <class Rules>
void log_new_problem(const typename Rules::Arguments& arguments, const typename Rules::Problem& problem,
                     const Wishes& wishes) {
  if constexpr (HasTuningKeys<Rules>) {
    if (wishes.options.order != Order::best_first || !logs_problems()) return;
    const QueryOptions options = wishes.query_options();
    if (!is_new_problem(key_under(tuning_key_of<Rules>(problem), options))) return;
    if (has_empty_operand<Rules>(arguments)) return;
    const void* const asked = wishes.of_class != nullptr ? wishes.of_class->arguments : &arguments;
    const std::string words = Rules::command_text(*static_cast<const typename Rules::Arguments*>(asked));
    if (!words.empty()) log_problem(to_string(Rules::Arguments::operation), words + words_of(options));
  }
}

/// What tells apart remembered answers of different tables and devices. @param tuning null: 0
inline std::uint32_t tuning_word(const Tuning* tuning, const DeviceModel& device) {
  if (tuning == nullptr) return 0;
  const Digest name = tuning_device_digest(tuning_device(device));
  return std::max(1U, tuning->epoch * 0x9e3779b1U + static_cast<std::uint32_t>(name.low));
}

/// The controls of a choice where the caller left them open.
inline Controls completed(Controls asked, const Controls& choice) {
  if (!asked.mode) asked.mode = choice.mode;
  if (!asked.split_k_slices) asked.split_k_slices = choice.split_k_slices;
  if (!asked.swizzle) asked.swizzle = choice.swizzle;
  if (!asked.raster) asked.raster = choice.raster;
  return asked;
}

/// Whether a family that chooses all controls by itself chose those that were measured: the mode and the
/// slices, by which the time goes.
inline bool agree(const ChosenControls& chosen, const Controls& measured) {
  return (!measured.mode || *measured.mode == chosen.mode) &&
         (!measured.split_k_slices || *measured.split_k_slices == chosen.split_k_slices);
}

/// The measured kernels of a problem, the best first.
inline std::span<const TunedChoice> tuned_choices(const Tuning& tuning, const DeviceModel& device,
                                                  const TuningKey& key) {
  return tuning.index.find(tuning_device_digest(tuning_device(device)), key);
}

}  // namespace quarry::detail
