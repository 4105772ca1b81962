/// Text of a problem and of what the registry answered.
#pragma once

#include <string>

#include "problem.hpp"

namespace quarry::golden {

/// All that a problem says, one fact a line. Numbers are exact.
std::string problem_text(Problem& problem);

/// What get_kernels says of it, and supports and workspace_size of the kernels that are asked.
std::string answers_text(const Problem& problem);

}  // namespace quarry::golden
