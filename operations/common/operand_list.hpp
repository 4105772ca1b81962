/// The operands of one problem, as everything that treats them alike sees them.
#pragma once

#include <cassert>
#include <optional>

#include "quarry/epilogue.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {

/// One tensor operand.
struct OperandRef {
  Operand name = Operand::none;
  /// Of the arguments, which outlive the list.
  const TensorView* view = nullptr;
  bool is_output = false;
  /// A run does not touch its elements: A and B where alpha is 0. It is checked all the same.
  bool is_unused = false;
  /// An input that may be `out` itself: each element of it is read by whoever writes that element.
  bool may_be_out = false;
  /// An output of which a run may leave elements as they are.
  bool may_stay = false;
  /// An array of pointers to matrices that have extents of their own, within the view's: only the
  /// operation knows which memory they cover, and checks it.
  bool has_own_extents = false;
};

/// A number that may be read through a pointer when the kernel runs.
struct ScalarRef {
  Operand name = Operand::none;
  /// Of the arguments, which outlive the list.
  const Scalar* scalar = nullptr;
};

/// The operands of a problem, `out` first. Checks of memory and overlaps, plans, guards, copies and dumps
/// loop over this list, so that an operand is named once: where its operation makes the list. Lies on the
/// stack, and refers to the arguments.
class OperandList {
 public:
  static constexpr int most_tensors = 16;
  static constexpr int most_scalars = 4;

  OperandList() {}

  /// @pre fewer than most_tensors are there
  void add(const OperandRef& operand) {
    assert(count_ < most_tensors);
    tensors_[count_++] = operand;
  }
  /// Adds an operand that may be absent.
  void add(const std::optional<TensorView>& view, OperandRef operand) {
    if (!view) return;
    operand.view = &*view;
    add(operand);
  }
  /// @pre fewer than most_scalars are there
  void add(Operand name, const Scalar& scalar) {
    assert(scalar_count_ < most_scalars);
    scalars_[scalar_count_++] = {name, &scalar};
  }

  const OperandRef* begin() const { return tensors_; }
  const OperandRef* end() const { return tensors_ + count_; }
  const OperandRef& front() const { return tensors_[0]; }

  struct Scalars {
    const ScalarRef* first;
    const ScalarRef* last;
    const ScalarRef* begin() const { return first; }
    const ScalarRef* end() const { return last; }
  };
  Scalars scalars() const { return {scalars_, scalars_ + scalar_count_}; }

  /// The operand of a name; null where the problem has none.
  const OperandRef* find(Operand name) const {
    for (const OperandRef& operand : *this) {
      if (operand.name == name) return &operand;
    }
    return nullptr;
  }

 private:
  // Elements that were not added are not initialised: an empty list costs nothing.
  union {
    OperandRef tensors_[most_tensors];
  };
  union {
    ScalarRef scalars_[most_scalars];
  };
  int count_ = 0;
  int scalar_count_ = 0;
};

}  // namespace quarry::detail
