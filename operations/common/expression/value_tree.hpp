/// Values that are written in C++: trees that share their parts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "quarry/expression.hpp"

namespace quarry::detail {

struct ValueTree {
  enum class Kind : unsigned char { constant, sum, tensor, call, gather, too_deep };
  Kind kind = Kind::constant;
  double constant = 0;
  /// Of a call, the function.
  std::string name = {};
  /// Of a tensor: all of it. Of sums: their type. Of a gather: the table, and the index is the operand.
  expression::Tensor tensor = {};
  std::vector<std::shared_ptr<const ValueTree>> operands = {};
  /// Levels of operands; bounded, so that walks and destruction may recurse.
  int depth = 0;
};

}  // namespace quarry::detail
