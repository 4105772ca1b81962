/// Reading the parts of a problem from text, as flags and shapes files write them. Every failure is a
/// parse_error (or what the library says of an unknown word) whose message names the text at fault.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "lab/problems/problem.hpp"
#include "quarry/status.hpp"

namespace quarry::lab {

struct Shape {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

/// "4096x4096x512": three sizes of 0 or more, M, N and K. Of a reduction, the slices (as K), M and N.
Result<Shape> parse_shape(std::string_view text, Operation operation = Operation::gemm);

/// Parts of an operand, each of which may be left out.
struct OperandParts {
  std::optional<DType> dtype;
  std::optional<Layout> layout;
  std::int64_t ld = 0;
  int alignment = 0;
  bool array = false;
};

/// The word of a layout in an operand: row, col, row32 or col32.
std::string_view layout_word(Layout layout);

/// "f16:col:ld=4104:align=8": a type, row, col, row32 or col32, a leading dimension and an alignment, in
/// elements, and that it is an array of pointers.
Result<OperandParts> parse_operand(std::string_view text);

/// A whole number from `least` to `greatest`; `what` names it in the message.
Result<std::int64_t> parse_integer(std::string_view what, std::string_view text, std::int64_t least,
                                   std::int64_t greatest);

/// A finite decimal number.
Result<double> parse_number(std::string_view what, std::string_view text);

/// "row" or "column".
Result<BiasAxis> parse_bias_axis(std::string_view text);

/// "row", "column" or "tensor".
Result<ScaleAxis> parse_scale_axis(std::string_view text);

/// "LOW:HIGH", of which either may be left out: no bound.
Result<Clamp> parse_clamp(std::string_view text);

/// "gemm" or "reduce_split_k".
Result<Operation> parse_operation(std::string_view text);

}  // namespace quarry::lab
