/// Arguments of the operations, with the tensors that they hold.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "epilogue.hpp"
#include "tensor.hpp"

namespace quarry::python {

/// What get_kernels was asked about arguments, without a filter.
struct AskedOfArguments {
  std::optional<int> cc;
  std::optional<std::size_t> limit;
  std::optional<std::size_t> max_workspace;
  bool batch_invariant = false;
  /// As tuning_changes() when it was asked.
  std::size_t tuning = 0;

  friend bool operator==(const AskedOfArguments&, const AskedOfArguments&) = default;
};

/// How often this module loaded or forgot tuning tables: answers before the last time hold no longer.
std::size_t tuning_changes();

/// Arguments of any operation. They keep the caller's tensors alive.
class OperationArguments {
 public:
  virtual ~OperationArguments() = default;
  /// Valid as long as this.
  virtual quarry::Arguments get() const = 0;

  /// What is compiled into their kernels; null without an expression.
  virtual const Expression* expression() const { return nullptr; }

  /// All tensors with their names, in the order in which they were taken.
  const std::vector<std::pair<std::string, Held>>& held() const { return held_; }
  /// The tensor that was given under this name, or None.
  nb::object owner(std::string_view name) const;
  /// Memory of the operands: of the first that has any, otherwise as it was left open.
  Memory memory() const;

  /// Whether some tensor is one of torch.
  bool has_torch() const;

  /// Holds a tensor under its name and returns its view. Raises as hold().
  TensorView keep(nb::handle tensor, const char* name, bool written = false);
  /// The same where None is no tensor.
  std::optional<TensorView> keep_if(nb::handle tensor, const char* name, bool written = false);
  /// The same for whole numbers that kernels read as int32, such as sizes.
  TensorView keep_int32(nb::handle tensor, const char* name);
  /// Raises ValueError where the tensor of this name, which a kernel writes to, is read-only.
  void check_written(std::string_view name) const;

  /// The answer that was remembered for this question; an invalid object without one. Views never change, so
  /// the same question has the same answer.
  nb::object recall(const AskedOfArguments& asked) const {
    return answer_.is_valid() && asked_ == asked ? answer_ : nb::object();
  }
  /// Remembers an answer in the place of the one before.
  void remember(const AskedOfArguments& asked, nb::object answer) const {
    asked_ = asked;
    answer_ = std::move(answer);
  }

 protected:
  static const Expression* address_of(const std::optional<Expression>& expression) {
    return expression ? &*expression : nullptr;
  }

 private:
  mutable AskedOfArguments asked_;
  mutable nb::object answer_;
  std::vector<std::pair<std::string, Held>> held_;
};

/// An object of Python as arguments. Raises TypeError for objects of other classes.
const OperationArguments& arguments_of(nb::handle object, const char* name = "args");

/// A property that returns a tensor as it was given. The texts are literals.
struct GivenProperty {
  const char* name;
  /// As the arguments hold it.
  const char* held;
  const char* signature;
};
inline constexpr GivenProperty out_property = {"out", "out", "def out(self) -> object"};

/// Adds such properties to a class of arguments.
template <class Class>
void bind_given(Class& arguments, std::initializer_list<GivenProperty> properties) {
  for (const GivenProperty& each : properties) {
    const char* const held = each.held;
    arguments.def_prop_ro(
        each.name, [held](const OperationArguments& self) { return self.owner(held); },
        nb::sig(each.signature));
  }
}

/// The same of a product.
template <class Class>
void bind_product(Class& arguments) {
  bind_given(arguments,
             {{"A", "A", "def A(self) -> object"}, {"B", "B", "def B(self) -> object"}, out_property});
}

/// The type of alpha and beta beside sums of a type (Scalar).
constexpr DType compute_type(DType sums, DType out) {
  return is_integer(sums) && out != sums ? DType::f32 : sums;
}

/// The standard parts of an epilogue, whose tensors the arguments hold. Raises as hold(), and ValueError for
/// an alpha or beta that is a tensor of anything else than one element of `compute`.
Epilogue standard_epilogue(OperationArguments& arguments, const PythonEpilogue& given, DType compute);

/// Scales of both operands and their granularities.
struct Scales {
  nb::handle a;
  std::string_view a_granularity;
  nb::handle b;
  std::string_view b_granularity;
};

/// Takes scales into the arguments of a product. @param owner holds them
template <class Arguments>
void take_scales(const Scales& given, OperationArguments& owner, Arguments& arguments) {
  arguments.a_scale = owner.keep_if(given.a, "a_scale");
  arguments.a_scale_granularity =
      choice_of(parse_scale_granularity(given.a_granularity), "a_scale_granularity");
  arguments.b_scale = owner.keep_if(given.b, "b_scale");
  arguments.b_scale_granularity =
      choice_of(parse_scale_granularity(given.b_granularity), "b_scale_granularity");
}

}  // namespace quarry::python
