/// Arguments of any operation, and what the library answers to them whichever it is.
#pragma once

#include <variant>

#include "lab/problems/random_problem.hpp"
#include "lab/reference/reference.hpp"
#include "operations/reduce_split_k/problem.hpp"
#include "quarry/registry.hpp"
#include "registry/device/prepared.hpp"
#include "registry/query/operation_info.hpp"

namespace quarry::lab {

using Arguments = std::variant<GemmArguments, ReduceSplitKArguments>;

/// The arguments of a problem whose tensors are these (RandomProblem::arguments, or copies elsewhere).
inline Arguments arguments_of(const GemmArguments& tensors, std::int64_t slices) {
  if (slices == 0) return tensors;
  return detail::reduction_of(tensors, slices);
}
inline Arguments arguments_of(const host::RandomProblem& problem) {
  return arguments_of(problem.arguments, problem.slices);
}

/// The same with other controls, where the operation has any.
inline Arguments with(const Controls& controls, Arguments arguments) {
  if (auto* const gemm = std::get_if<GemmArguments>(&arguments)) gemm->controls = controls;
  return arguments;
}

inline CandidateList find_kernels(const Arguments& arguments, const Filter& filter,
                                  const FindOptions& options) {
  return std::visit([&](const auto& a) { return get_kernels(a, filter, options); }, arguments);
}
inline Result<Candidate> candidate_of(const Kernel& kernel, const Arguments& arguments,
                                      const FindOptions& options) {
  return std::visit([&](const auto& a) { return quarry::candidate_of(kernel, a, options); }, arguments);
}
inline Status supports(const Kernel& kernel, const Arguments& arguments) {
  return std::visit([&](const auto& a) { return kernel.supports(a); }, arguments);
}
inline Result<std::size_t> workspace_size(const Kernel& kernel, const Arguments& arguments) {
  return std::visit([&](const auto& a) { return kernel.workspace_size(a); }, arguments);
}
inline Status run(const Kernel& kernel, const Arguments& arguments, const RunOptions& options) {
  return std::visit([&](const auto& a) { return kernel.run(a, options); }, arguments);
}
inline Result<Plan> prepare(const Kernel& kernel, const Arguments& arguments,
                            const PrepareOptions& options = {}) {
  return std::visit([&](const auto& a) { return kernel.prepare(a, options); }, arguments);
}
inline PlanOperands operands_of(const Arguments& arguments) {
  return std::visit([](const auto& a) { return detail::operands_of(a); }, arguments);
}
inline Result<host::RandomProblem> random_operands(const Arguments& shape,
                                                   const host::RandomOptions& options) {
  return std::visit([&](const auto& a) { return host::RandomProblem::make(a, options); }, shape);
}
inline Result<host::Reference> reference_of(const host::RandomProblem& problem,
                                            const host::ReferenceOptions& options = {}) {
  return std::visit([&](const auto& a) { return host::compute_reference(a, options); },
                    arguments_of(problem));
}

/// Sums that an output of the problem adds up: what its tolerance goes by.
inline std::int64_t terms(const host::RandomProblem& problem) {
  const TensorView& a = problem.arguments.a;
  return problem.slices > 0 ? problem.slices : a.extents[a.rank - 1U];
}

}  // namespace quarry::lab
