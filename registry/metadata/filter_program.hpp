/// What a filter runs as: a flat list of small tests and computations, each of which names what follows it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/metadata.hpp"
#include "registry/metadata/fields.hpp"
#include "registry/metadata/filter_arithmetic.hpp"

namespace quarry::detail {

enum class Opcode : std::uint8_t {
  // On a number of the kernel, in one step. Absent: they fail.
  field_in_range,  ///< `number` lies in the range
  field_in_set,    ///< bit `number` of `set` is 1
  field_present,   ///< the kernel has `number`
  // Computations into a register. They fail where there is no result.
  load_field,        ///< target = number
  load_constant,     ///< target = constant
  widen,             ///< target as a decimal
  compute_integers,  ///< target = target <arithmetic> target + 1
  compute_decimals,
  // On registers.
  register_in_range,  ///< target lies in the range
  compare_integers,   ///< target <comparison> target + 1
  compare_decimals,
  compare_texts,  ///< texts[0] <comparison> texts[1]
};

/// A register: an integer, a boolean, the place of a word, or a decimal.
union Value {
  std::int64_t integer;
  double decimal;
};

/// The integers from `low` to `high`, or all others. Every comparison with a constant is one.
struct Range {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  bool inverted = false;

  bool holds(std::int64_t value) const { return (low <= value && value <= high) != inverted; }
};

/// The integers for which `value <op> constant` holds. @pre op is not contains
Range range_of(Comparison op, std::int64_t constant);

/// A text of the kernel, or a constant of the program.
struct TextOperand {
  std::string_view (*field)(const KernelMetadata&) = nullptr;
  std::uint32_t constant = 0;
};

/// One step; afterwards the program goes on at `then` where it holds or succeeds, at `otherwise` where it
/// does not.
struct Instruction {
  Opcode opcode;
  Arithmetic arithmetic = Arithmetic::add;
  Comparison comparison = Comparison::equal;
  std::uint16_t target = 0;
  std::uint32_t then = 0;
  std::uint32_t otherwise = 0;
  Number (*number)(const KernelMetadata&) = nullptr;
  Range range = {};
  std::uint64_t set = 0;
  Value constant = {.integer = 0};
  TextOperand texts[2] = {};
};

class Program {
 public:
  /// Where a program ends, as places of instructions.
  static constexpr std::uint32_t reject = 0;
  static constexpr std::uint32_t accept = 1;
  /// Registers that a program may use.
  static constexpr std::size_t registers = 512;

  /// Whether the kernel passes. Allocates nothing.
  bool operator()(const KernelMetadata& kernel) const;

  /// Appends an instruction and gives its place. Programs are written from their end to their beginning: what
  /// an instruction goes on to stands already.
  std::uint32_t add(const Instruction& instruction);
  /// Keeps a text for the program; gives its number.
  std::uint32_t keep(std::string_view text);
  /// Where the program begins.
  void begin_at(std::uint32_t place) { begin_ = place; }

 private:
  bool run(const KernelMetadata& kernel, Value* values) const;
  bool step(const Instruction& instruction, const KernelMetadata& kernel, Value* values) const;
  std::string_view text(const TextOperand& operand, const KernelMetadata& kernel) const;

  std::vector<Instruction> instructions_;
  std::vector<std::string> texts_;
  std::uint32_t begin_ = accept;
};

}  // namespace quarry::detail
