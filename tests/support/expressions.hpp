/// Expressions and their tensors in tests of operations that have them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/quarry.hpp"
#include "support/catch_compat.hpp"

namespace quarry::test {

/// The expression of a text that is right. @param with its tensors, as `--with` says them
inline Expression parsed(std::string_view text, std::string_view with, DType sum = DType::f32) {
  const auto declared = expression::Declarations::parse(with, sum);
  INFO(declared.status().message());
  REQUIRE(declared);
  const Result<Expression> expression = Expression::parse(text, *declared);
  INFO(expression.status().message());
  REQUIRE(expression);
  return *expression;
}

/// The same for elementwise kernels, which have no sum.
inline Expression parsed_elementwise(std::string_view text, std::string_view with) {
  return parsed(text, with, DType::none);
}

/// A matrix of contiguous rows without memory.
inline TensorView matrix(DType type, std::int64_t rows = 4, std::int64_t columns = 8) {
  return TensorView::row_major(nullptr, type, {rows, columns});
}

/// No kernel is found, and the message has these words.
inline void check_nothing_found(const Arguments& args, const std::string& words,
                                StatusCode code = StatusCode::invalid_arguments) {
  const auto found = get_kernels(args);
  INFO(found.status().message());
  CHECK(found.empty());
  CHECK(found.status().code() == code);
  CHECK(found.status().message().find(words) != std::string::npos);
}

/// Runs the arguments with every kernel that takes them, checks after each, and says how many there are.
template <class Args = ElementwiseArguments, class Check>
int run_all(const Args& args, const Check& check) {
  int runs = 0;
  const auto found = get_kernels(args);
  INFO(found.status().message());
  REQUIRE_FALSE(found.empty());
  for (const Candidate& kernel : found) {
    std::vector<std::byte> workspace(kernel.workspace() + 256);
    void* const aligned =
        reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(workspace.data()) + 255) / 256 * 256);
    const Status status = kernel.run(args, {.workspace = {aligned, kernel.workspace()}});
    INFO(kernel.name() << ": " << status.message());
    REQUIRE(status);
    check();
    ++runs;
  }
  return runs;
}

}  // namespace quarry::test
