#include "lab/problems/query.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "lab/problems/problem_text.hpp"
#include "operations/common/sum_class.hpp"
#include "registry/operation.hpp"

namespace quarry::lab {
namespace {

std::string class_text(std::optional<SumClass> sum_class, Math math) {
  std::string text = sum_class ? std::string(to_string(*sum_class)) : "none";
  if (math != Math::exact) text += " with math " + std::string(to_string(math));
  return text;
}

}  // namespace

detail::QueryOptions own_options(const Problem& problem) {
  detail::QueryOptions options = problem.options;
  options.batch_invariant = options.batch_invariant && is_product(problem.operation());
  return options;
}

FindOptions find_options(const Problem& problem, FindOptions options) {
  options.batch_invariant = options.batch_invariant || problem.options.batch_invariant;
  options.max_workspace = std::min(options.max_workspace, problem.options.max_workspace);
  return options;
}

Problem asked_problem(const Problem& problem, const FindOptions& options) {
  if (!options.batch_invariant || !is_product(problem.operation())) return problem;
  return with(detail::in_one_piece(controls_of(problem)), problem);
}

Result<std::optional<InvariantClass>> required_class(const Problem& problem, const Filter& filter,
                                                     const FindOptions& options) {
  const detail::OperationInfo& info = detail::info_of(problem.operation());
  if (!options.batch_invariant || info.required_class == nullptr) return std::optional<InvariantClass>();
  const HeldArguments held = arguments_of(problem);
  const Arguments arguments = held;
  const Result<InvariantClass> required = info.required_class(arguments.data(), filter, options);
  if (!required) return required.status();
  return std::optional(*required);
}

Status check_class(const KernelMetadata& kernel, const std::optional<InvariantClass>& required) {
  if (!required || required->holds(kernel)) return {};
  return {StatusCode::filtered_out, "a batch-invariant query for it requires kernels of sum class " +
                                        class_text(required->sum_class, required->math) +
                                        "; the class of this kernel is " +
                                        class_text(sum_class(kernel), kernel.design.math)};
}

Result<Candidate> candidate_of(const Kernel& kernel, const Problem& problem, const FindOptions& options) {
  const auto required = required_class(problem, {}, options);
  if (!required) return required.status();
  if (Status s = check_class(kernel.metadata(), *required); !s) return s;
  return quarry::candidate_of(kernel, arguments_of(asked_problem(problem, options)), options);
}

Result<std::size_t> parse_bytes(std::string_view text) {
  constexpr std::string_view units = "KMG";
  std::size_t scale = 1;
  std::string_view digits = text;
  if (const std::size_t unit = text.empty() ? units.npos : units.find(text.back()); unit != units.npos) {
    scale <<= 10 * (unit + 1);
    digits.remove_suffix(1);
  }
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(scale);
  const Result<std::int64_t> number = parse_integer("bytes", digits, 0, most);
  if (!number) return number.status();
  return static_cast<std::size_t>(*number) * scale;
}

}  // namespace quarry::lab
