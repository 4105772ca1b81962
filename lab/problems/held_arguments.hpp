/// Arguments of any operation, held by value.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "operations/common/operand_list.hpp"
#include "quarry/arguments.hpp"
#include "quarry/controls.hpp"

namespace quarry::lab {

/// A copy of the arguments of one operation: GemmArguments, ReduceSplitKArguments, ... It is taken by every
/// call that takes arguments. Copies are independent; those that are moved stay where they are in memory.
class HeldArguments {
 public:
  /// From a struct that names its operation in a static member `operation`.
  template <class A>
  requires std::same_as<decltype(A::operation), const Operation> HeldArguments(A arguments)
      : held_(std::make_unique<Holder<A>>(std::move(arguments))) {}
  HeldArguments(const HeldArguments& other) : held_(other.held_->copy()) {}
  HeldArguments(HeldArguments&&) = default;
  HeldArguments& operator=(HeldArguments other) {
    held_ = std::move(other.held_);
    return *this;
  }

  operator Arguments() const { return held_->arguments(); }
  Operation operation() const { return held_->arguments().operation(); }

  /// The struct of a known operation. @pre it is of this operation
  template <class A>
  const A& as() const {
    return *held_->arguments().template as<A>();
  }
  template <class A>
  A& as() {
    return const_cast<A&>(std::as_const(*this).as<A>());
  }

  /// The controls; null where the operation has none.
  Controls* controls() { return held_->controls(); }

  /// Fills in the list of the operands. It refers to these arguments.
  void list(detail::OperandList& operands) const;

  /// Calls `edit` for each operand, with its description and its view, which may be changed; until one fails.
  /// A view without a type is no operand: it may stand for one that the arguments lack.
  template <class Edit>
  Status edit_operands(const Edit& edit) {
    detail::OperandList operands;
    list(operands);
    for (const detail::OperandRef& operand : operands) {
      if (operand.view->dtype == DType::none) continue;
      // The list refers to the arguments, which are ours.
      if (Status s = edit(operand, const_cast<TensorView&>(*operand.view)); !s) return s;
    }
    return {};
  }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual std::unique_ptr<Held> copy() const = 0;
    virtual Arguments arguments() const = 0;
    virtual Controls* controls() = 0;
  };
  template <class A>
  struct Holder final : Held {
    explicit Holder(A arguments) : value(std::move(arguments)) {}
    std::unique_ptr<Held> copy() const override { return std::make_unique<Holder>(value); }
    Arguments arguments() const override { return value; }
    Controls* controls() override {
      if constexpr (requires { value.controls; }) return &value.controls;
      return nullptr;
    }
    A value;
  };

  std::unique_ptr<Held> held_;
};

/// The same with other controls, where the operation has any.
HeldArguments with(const Controls& controls, HeldArguments arguments);

/// Lists the operands of any arguments.
void list_operands(const Arguments& arguments, detail::OperandList& operands);

}  // namespace quarry::lab
