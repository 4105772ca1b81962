/// Problems as tuning tables know them.
#pragma once

#include "lab/problems/problem.hpp"
#include "registry/tuning/measurement.hpp"

namespace quarry::lab {

/// Ok for an operation whose kernels are tuned; parse_error otherwise.
Status check_tuned(Operation operation);

/// The problem's key, with its options. Fails as check_tuned does, and for a problem that no kernel may get.
Result<detail::TuningKey> problem_key(const Problem& problem);

}  // namespace quarry::lab
