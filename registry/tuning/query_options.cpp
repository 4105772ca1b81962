#include "registry/tuning/query_options.hpp"

namespace quarry::detail {

std::string words_of(const QueryOptions& options) {
  std::string words = options.batch_invariant ? " --batch-invariant" : "";
  if (options.max_workspace != QueryOptions::no_limit)
    words += " --max-workspace " + std::to_string(options.max_workspace);
  return words;
}

TuningKey key_under(const TuningKey& problem, const QueryOptions& options) {
  if (options.is_plain()) return problem;
  return {joined(problem.digest, digest_of(words_of(options))), problem.m};
}

std::array<QueryOptions, 3> options_to_look_up(const QueryOptions& options) {
  return {options, {.batch_invariant = options.batch_invariant}, {}};
}

}  // namespace quarry::detail
