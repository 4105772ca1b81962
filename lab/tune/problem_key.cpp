#include "lab/tune/problem_key.hpp"

#include "lab/problems/query.hpp"
#include "registry/operation.hpp"

namespace quarry::lab {

Status check_tuned(Operation operation) {
  const detail::OperationInfo& info = detail::info_of(operation);
  if (info.no_tuning.empty()) return {};
  return {StatusCode::parse_error,
          "kernels of " + std::string(info.name) + " are not tuned: " + std::string(info.no_tuning)};
}

Result<detail::TuningKey> problem_key(const Problem& problem) {
  const detail::OperationInfo& info = detail::info_of(problem.operation());
  if (Status s = check_tuned(problem.operation()); !s) return s;
  const HeldArguments held = arguments_of(asked_problem(problem, find_options(problem, {})));
  const Arguments arguments = held;
  const Result<detail::TuningKey> key = info.tuning_key(arguments.data());
  if (!key) return key.status();
  return key_under(*key, own_options(problem));
}

}  // namespace quarry::lab
