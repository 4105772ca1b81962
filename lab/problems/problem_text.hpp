/// Reading the parts of a problem from text, as flags and shapes files write them. Every failure is a
/// parse_error (or what the library says of an unknown word) whose message names the text at fault.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/epilogue.hpp"
#include "quarry/operation.hpp"
#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry::lab {

/// Sizes of 0 or more with an "x" between them, as many as `letters` has. @param example such a text, for the
/// message: "4096x4096x512"
Result<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::string_view letters,
                                              std::string_view example);

/// Parts of an operand, each of which may be left out.
struct OperandParts {
  std::optional<DType> dtype;
  std::optional<Layout> layout;
  std::int64_t ld = 0;
  int alignment = 0;
  bool array = false;
  bool shared = false;
  std::optional<std::int64_t> stride;
};

/// The word of a layout in an operand: row, col, row32 or col32.
std::string_view layout_word(Layout layout);

/// "f16:col:ld=4104:align=8:stride=0": a type, row, col, row32 or col32, a leading dimension, an alignment
/// and a batch stride, in elements, and that it is an array of pointers or one matrix that a batch shares.
Result<OperandParts> parse_operand(std::string_view text);

/// A whole number from `least` to `greatest`; `what` names it in the message.
Result<std::int64_t> parse_integer(std::string_view what, std::string_view text, std::int64_t least,
                                   std::int64_t greatest);

/// A finite decimal number.
Result<double> parse_number(std::string_view what, std::string_view text);

/// The place of a word among some. @param what names it in the message
Result<std::size_t> parse_word(std::string_view what, std::string_view text,
                               std::initializer_list<std::string_view> words);

/// "LOW:HIGH", of which either may be left out: no bound.
Result<Clamp> parse_clamp(std::string_view text);

/// The operation of a name.
Result<Operation> parse_operation(std::string_view text);

/// A flag in a command's text: " --name value".
std::string flag_text(std::string_view name, const std::string& value);
/// A number, such that parsing gives it back.
std::string number_text(double value);

}  // namespace quarry::lab
