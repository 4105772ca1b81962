/// The result of a benchmark as a line of JSON, from which it can be read again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lab/bench/result.hpp"

namespace quarry::lab {

/// The result in one line, without a newline at its end. Numbers are exact.
std::string result_text(const BenchResult& result);

/// A result as it was written.
struct WrittenResult {
  /// The problem in the words of the command line: command_text of BenchResult::problem, which is not filled.
  std::string command;
  BenchResult result;
};

/// Reads a line of result_text; absent where the line is anything else, or a part of one.
std::optional<WrittenResult> read_result(std::string_view line);

}  // namespace quarry::lab
