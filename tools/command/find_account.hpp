/// Why the first candidate is first: its account beside the accounts of the next ones.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "lab/problems/problem.hpp"
#include "quarry/account.hpp"
#include "quarry/registry.hpp"

namespace quarry::command {

/// Candidates that are compared, the best ones.
inline constexpr std::size_t compared_candidates = 4;

/// A table: a line for each part of the predicted time, a column for each candidate.
/// @param options of the query that found the candidates
std::string account_text(std::span<const Candidate> candidates, const lab::Problem& problem,
                         const FindOptions& options);

/// The same for programs: an object for each candidate.
nlohmann::ordered_json account_json(std::span<const Candidate> candidates, const lab::Problem& problem,
                                    const FindOptions& options);

}  // namespace quarry::command
