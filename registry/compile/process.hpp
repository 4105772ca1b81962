/// Running another program.
#pragma once

#include <span>
#include <string>

#include "quarry/status.hpp"

namespace quarry::detail {

struct ProcessOutput {
  int exit_code = 0;  ///< 128 and the signal's number where one ended it
  std::string text;   ///< of both streams
};

/// Runs a program, without a shell, to its end; it reads nothing. Fails with no_compiler where it cannot be
/// started.
/// @param words the program's path, or its name where PATH is to be searched, and its arguments
/// @param folder where it runs and puts its temporary files; "": as this process
Result<ProcessOutput> run_process(std::span<const std::string> words, const std::string& folder = "");

}  // namespace quarry::detail
