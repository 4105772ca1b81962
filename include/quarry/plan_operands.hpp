/// The pointers of one run of a plan, by operand.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "quarry/status.hpp"
#include "quarry/types.hpp"

namespace quarry {

/// Pointers by operand: `{{Operand::a, a}, {Operand::b, b}, {Operand::out, out}}`. They must be in the same
/// kind of memory as the operands of the plan, with the same alignment (PlanOperandNeed). For an operand that
/// is an array of pointers (PointerArrayView), pass the address of the array; its pointers must keep the
/// promises of the view. The kernel writes outputs through their pointers.
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

  /// An operand that was named twice, which every run refuses; otherwise `none`.
  Operand named_twice() const { return twice_; }

 private:
  static constexpr unsigned count = static_cast<unsigned>(last_operand) + 1;
  static_assert(count <= 32);
  static constexpr unsigned number(Operand operand) { return static_cast<unsigned>(operand) % count; }

  const void* data_[count] = {};
  std::uint32_t named_ = 0;
  Operand twice_ = Operand::none;
};

/// An operand that each run of a plan needs.
struct PlanOperandNeed {
  Operand name;
  DType dtype;
  /// An array of pointers to matrices.
  bool is_array;
  /// Alignment of its address in bytes.
  std::uint16_t alignment;
  /// The kernel writes it. It reads all other operands.
  bool is_output = false;
};

}  // namespace quarry
