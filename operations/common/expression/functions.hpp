/// The functions and operators of expressions: a row says all that is known of one, so that adding a function
/// is adding a row.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "quarry/expression.hpp"

namespace quarry::detail {

/// Which types a function takes and gives. Operands have one type, except the condition of a selection.
enum class Domain : std::uint8_t {
  numbers,     ///< f32, f64 or s32, and gives the same
  floating,    ///< f32 or f64, and gives the same
  comparison,  ///< f32, f64 or s32, and gives a condition
  logic,       ///< conditions, and gives one
  selection,   ///< a condition and two numbers of a type, and gives that
};

/// How far a result may lie from the exact one, in units u of rounding (2^-24 in f32, 2^-53 in f64).
enum class Accuracy : std::uint8_t {
  exact,
  rounded,    ///< u |result|
  accurate,   ///< 4 u |result|
  composite,  ///< 8 u (|result| + min(|x|, 1)), x the first operand
};

/// How tightly an operator binds, loosest first. A function binds as tightly as a name.
enum class Binding : std::uint8_t {
  disjunction,
  conjunction,
  negation,
  comparison,
  sum,
  product,
  sign,
  tight
};

/// Conditions are 1 and 0, of whichever type.
struct Function {
  /// As the text form spells it; an operator's sign, or a function's name.
  std::string_view name;
  int operands;
  Domain domain;
  Binding binding;
  Accuracy accuracy;
  /// As the CPU computes it in each type; null where the domain does not have the type.
  float (*in_f32)(const float* x);
  double (*in_f64)(const double* x);
  std::int32_t (*in_s32)(const std::int32_t* x);
  /// Name of the device function (kernels/common/expression.cuh).
  std::string_view device;

  constexpr bool is_operator() const { return binding != Binding::tight; }
};

std::span<const Function> functions();

/// Place of the function of this name with so many operands.
std::optional<std::uint16_t> find_function(std::string_view name, std::size_t operands);

/// A reduction of a value of every element.
struct Reduction {
  std::string_view name;
  /// The greatest value, NaN if there is one; otherwise the sum.
  bool is_maximum;
  expression::Extent extent;
};

std::span<const Reduction> reductions();

std::optional<std::uint16_t> find_reduction(std::string_view name);

/// What the two sums of such pairs are called. @pre not none
constexpr std::string_view gate_name(expression::Pairs pairs) {
  return pairs == expression::Pairs::eights ? "gate8" : "gate";
}
constexpr std::string_view up_name(expression::Pairs pairs) {
  return pairs == expression::Pairs::eights ? "up8" : "up";
}

/// The pairs that a function reads a sum of: gate, up, gate8 and up8; none for other names.
expression::Pairs pairs_of(std::string_view name);

/// All that can be called: functions, reductions and types, once each.
std::span<const std::string_view> callable_names();

}  // namespace quarry::detail
