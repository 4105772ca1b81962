/// Values written as text, shared ones once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "operations/common/expression/functions.hpp"

namespace quarry::detail {

/// A value as it is spelled: a name or a number where there are no operands, otherwise what `binding` says:
/// an operator between two operands or in front of one, or a function.
struct Spelled {
  std::string text = {};
  Binding binding = Binding::tight;
  std::vector<std::size_t> operands = {};
  /// A row of a table: `text` is the table, the operand the index.
  bool is_gather = false;
};

/// An output: its name, the place of its value, and whether other statements may name it.
struct SpelledOutput {
  std::string name;
  std::size_t value = 0;
  bool can_be_named = true;
};

/// The statements of an expression: the outputs in their order, and local names for values that are used
/// several times or nest deeply.
/// @param values operands in front of what uses them
/// @param taken names that local ones must differ from
std::string statements_of(std::vector<Spelled> values, const std::vector<SpelledOutput>& outputs,
                          const std::vector<std::string_view>& taken);

/// A number in the fewest digits that a type reads back. @param as_f32 whether that is f32, else f64
std::string number_text(double value, bool as_f32);

}  // namespace quarry::detail
