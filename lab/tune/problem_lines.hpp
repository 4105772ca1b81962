/// Problems as lines of text: what QUARRY_LOG_PROBLEMS makes a program write, and what tuning tables hold.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problems/problem.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

/// The problem of command_text: "gemm 64x64x64 --a f16:row ...". Fails with parse_error on any other text.
Result<Problem> parse_command_text(std::string_view text);

/// The problems of a log, each once, in the order of their first lines.
struct ProblemLog {
  std::vector<Problem> problems;
  /// Lines that are no problem.
  std::size_t skipped = 0;
};

/// Reads a log. Fails with parse_error, and names the path, where it cannot be read or has no problem.
Result<ProblemLog> read_problem_log(const std::string& path);

}  // namespace quarry::lab
