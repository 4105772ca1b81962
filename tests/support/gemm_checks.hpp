/// What tests of GEMM's checks ask: that arguments are accepted, or refused for a reason.
#pragma once

#include <string>

#include "support/catch_compat.hpp"
#include "support/gemm_rules.hpp"

namespace quarry::test {

/// Memory that views lie in; nothing reads it.
alignas(256) inline unsigned char memory[1 << 16];

/// The checked problem of arguments that must be accepted.
inline GemmProblem accepted(const GemmArguments& args) {
  GemmProblem problem;
  const Status status = normalise(args, problem);
  INFO(status.message());
  REQUIRE(status);
  return problem;
}

/// Why arguments are refused, which they must be, by a message of one line.
inline Status refused(const GemmArguments& args) {
  GemmProblem problem;
  Status status = normalise(args, problem);
  REQUIRE_FALSE(status);
  CHECK(status.code() == StatusCode::invalid_arguments);
  CHECK_FALSE(status.message().empty());
  CHECK(status.message().find('\n') == std::string::npos);
  return status;
}

inline void check_refused(const GemmArguments& args, Reason reason, Operand operand) {
  const Status status = refused(args);
  INFO(status.message());
  CHECK(status.reason() == reason);
  CHECK(status.operand() == operand);
}

/// @param text a part of the message
inline void check_refused(const GemmArguments& args, const std::string& text) {
  CHECK_THAT(refused(args).message(), Catch::Contains(text));
}

}  // namespace quarry::test
