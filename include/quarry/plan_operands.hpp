/// The pointers of one run of a plan, by operand.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// Pointers by operand, which must lie in memory of the same kind, aligned as the plan's operands were
/// (PlanOperandNeed): `{{Operand::a, a}, {Operand::b, b}, {Operand::out, out}}`. Of an operand that is an
/// array of pointers (PointerArrayView): the array, whose pointers keep to what that promised. Outputs are
/// written through theirs.
class PlanOperands {
 public:
  /// One pointer with its name.
  struct Named {
    Operand name;
    const void* data;
  };

  PlanOperands() = default;
  PlanOperands(std::initializer_list<Named> operands) {
    for (const Named& operand : operands) {
      if (named_ >> number(operand.name) & 1) twice_ = operand.name;
      named_ |= std::uint32_t{1} << number(operand.name);
      (*this)[operand.name] = operand.data;
    }
  }

  /// Null for an operand that was not named.
  const void*& operator[](Operand operand) { return data_[number(operand)]; }
  const void* operator[](Operand operand) const { return data_[number(operand)]; }

  /// An operand that was named twice, which a run refuses; `none` where there is no such.
  Operand named_twice() const { return twice_; }

 private:
  static constexpr unsigned count = static_cast<unsigned>(last_operand) + 1;
  static_assert(count <= 32);
  static constexpr unsigned number(Operand operand) { return static_cast<unsigned>(operand) % count; }

  const void* data_[count] = {};
  std::uint32_t named_ = 0;
  Operand twice_ = Operand::none;
};

/// What a plan needs of one operand in each run.
struct PlanOperandNeed {
  Operand name;
  DType dtype;
  /// An array of pointers to matrices.
  bool is_array;
  /// What its address must be a multiple of, in bytes.
  std::uint16_t alignment;
  /// It is written; others are read.
  bool is_output = false;
};

}  // namespace quarry
