/// Queries for a problem under the options that it has: what commands ask the registry.
#pragma once

#include <optional>
#include <string_view>

#include "lab/problems/problem.hpp"
#include "quarry/batch_invariant.hpp"
#include "quarry/registry.hpp"

namespace quarry::lab {

/// The options of the problem by which its query differs from a plain one: operations that multiply nothing
/// ignore batch_invariant.
detail::QueryOptions own_options(const Problem& problem);

/// The options with the problem's own ones: batch-invariant where either says so, and the smaller workspace.
FindOptions find_options(const Problem& problem, FindOptions options);

/// The problem as the query goes by it: of a batch-invariant one with K in one piece.
Problem asked_problem(const Problem& problem, const FindOptions& options);

/// The class that a batch-invariant query requires; absent where any kernel will do. Fails as the query does
/// where there is no such class.
/// @param options with the problem's own ones, here and below
Result<std::optional<InvariantClass>> required_class(const Problem& problem, const Filter& filter,
                                                     const FindOptions& options);

/// Ok where a kernel is of the required class; filtered_out, and both classes in words, otherwise.
Status check_class(const KernelMetadata& kernel, const std::optional<InvariantClass>& required);

/// As quarry::candidate_of, and fails as check_class does for a kernel of another class.
Result<Candidate> candidate_of(const Kernel& kernel, const Problem& problem, const FindOptions& options);

/// Bytes, with K, M or G behind the number for the powers of 1024. Fails with parse_error.
Result<std::size_t> parse_bytes(std::string_view text);

}  // namespace quarry::lab
