/// Expressions and their tensors in tests of operations that have them.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace quarry::test
