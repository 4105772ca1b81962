#include "registry/metadata/filter_program.hpp"

#include <cassert>

#include "registry/metadata/contains.hpp"

namespace quarry::detail {
namespace {

/// The first two places are the ends.
constexpr std::uint32_t ends = 2;

bool compare_texts(Comparison op, std::string_view a, std::string_view b) {
  return op == Comparison::contains ? contains(a, b) : compare(op, a, b);
}

}  // namespace

Range range_of(Comparison op, std::int64_t constant) {
  constexpr Range nothing = {.inverted = true};
  const Range all;
  switch (op) {
    case Comparison::equal: return {constant, constant};
    case Comparison::not_equal: return {constant, constant, true};
    case Comparison::less: return constant == all.low ? nothing : Range{all.low, constant - 1};
    case Comparison::less_equal: return {all.low, constant};
    case Comparison::greater: return constant == all.high ? nothing : Range{constant + 1, all.high};
    case Comparison::greater_equal: return {constant, all.high};
    case Comparison::contains: break;
  }
  assert(false);
  return nothing;
}

std::uint32_t Program::add(const Instruction& instruction) {
  assert(instruction.target + std::size_t{1} < registers);
  instructions_.push_back(instruction);
  return static_cast<std::uint32_t>(instructions_.size() - 1) + ends;
}

std::uint32_t Program::keep(std::string_view text) {
  texts_.emplace_back(text);
  return static_cast<std::uint32_t>(texts_.size() - 1);
}

std::string_view Program::text(const TextOperand& operand, const KernelMetadata& kernel) const {
  return operand.field != nullptr ? operand.field(kernel) : std::string_view(texts_[operand.constant]);
}

// Inlined: a call for each step would take as long as the step.
[[gnu::always_inline]] inline bool Program::step(const Instruction& i, const KernelMetadata& kernel,
                                                 Value* values) const {
  Value* const value = values + i.target;
  switch (i.opcode) {
    case Opcode::field_in_range: {
      const auto number = i.number(kernel);
      return number.present && i.range.holds(number.value);
    }
    case Opcode::field_in_set: {
      const auto number = i.number(kernel);
      return number.present && static_cast<std::uint64_t>(number.value) < 64 &&
             (i.set >> number.value & 1) != 0;
    }
    case Opcode::field_present: return i.number(kernel).present;
    case Opcode::load_field: {
      const auto number = i.number(kernel);
      value->integer = number.value;
      return number.present;
    }
    case Opcode::load_constant: *value = i.constant; return true;
    case Opcode::widen: value->decimal = static_cast<double>(value->integer); return true;
    case Opcode::compute_integers:
      return compute(i.arithmetic, value[0].integer, value[1].integer, value->integer);
    case Opcode::compute_decimals:
      return compute(i.arithmetic, value[0].decimal, value[1].decimal, value->decimal);
    case Opcode::register_in_range: return i.range.holds(value->integer);
    case Opcode::compare_integers: return compare(i.comparison, value[0].integer, value[1].integer);
    case Opcode::compare_decimals: return compare(i.comparison, value[0].decimal, value[1].decimal);
    case Opcode::compare_texts:
      return compare_texts(i.comparison, text(i.texts[0], kernel), text(i.texts[1], kernel));
  }
  return false;
}

// Not inlined: the compiler would see that nothing is in the registers yet, and cannot see that a program
// reads only what it wrote before.
[[gnu::noinline]] bool Program::run(const KernelMetadata& kernel, Value* values) const {
  std::uint32_t place = begin_;
  while (place >= ends) {
    const Instruction& instruction = instructions_[place - ends];
    place = step(instruction, kernel, values) ? instruction.then : instruction.otherwise;
  }
  return place == accept;
}

bool Program::operator()(const KernelMetadata& kernel) const {
  Value values[registers];
  return run(kernel, values);
}

}  // namespace quarry::detail
