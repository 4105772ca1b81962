/// The operands of a problem of any operation: random, the same for the same seed on every machine, in
/// guarded memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "lab/problems/fill.hpp"
#include "lab/problems/guarded_tensor.hpp"
#include "lab/problems/held_arguments.hpp"

namespace quarry::lab {

/// What an operand holds, in the order of its elements.
struct GivenValues {
  Operand name = Operand::none;
  std::vector<double> values;
  friend bool operator==(const GivenValues&, const GivenValues&) = default;
};

struct OperandOptions {
  std::uint64_t seed = 0;
  Values values = Values::uniform;
  /// Operands that are the first output's own memory, of those that may be (OperandRef::may_be_out) and are
  /// there.
  std::vector<Operand> in_place = {};
  /// Operands that hold what the problem says, such as the sizes of groups.
  std::vector<GivenValues> given = {};
  /// Threads that fill large operands.
  int threads = 1;
};

/// An output's memory as an input in its place sees it, which may be of another type of as many bits.
inline TensorView in_place_view(DType dtype, TensorView out) {
  out.dtype = dtype;
  return out;
}

/// Memory of one operand.
struct NamedTensor {
  Operand name = Operand::none;
  bool is_output = false;
  bool may_stay = false;  ///< a run may leave elements as they are
  GuardedTensor tensor = {};
};

/// Operands in host memory and the arguments that name them. Movable, not copyable.
///
/// Inputs hold random values (fill_random; what an operation's lab says, where these make no sense: group
/// ends, indices), outputs are poisoned. Operands that no run reads (C beside beta 0) stay fake.
class Operands {
 public:
  /// Operands for arguments of this shape: types, extents, strides, assumed alignments, epilogue; data
  /// pointers are not looked at. Fails as GuardedTensor::make does, and with `unsupported` for a type without
  /// random values.
  static Result<Operands> make(HeldArguments shape, const OperandOptions& options = {});

  /// The arguments, which point to the memory.
  const HeldArguments& arguments() const { return arguments_; }
  HeldArguments& arguments() { return arguments_; }
  const OperandOptions& options() const { return options_; }

  /// Those that have memory of their own, the first output first.
  std::span<const NamedTensor> tensors() const { return tensors_; }
  std::span<NamedTensor> tensors() { return tensors_; }
  /// The memory of an operand. @pre it is there, and has memory of its own
  const GuardedTensor& operator[](Operand name) const;
  GuardedTensor& operator[](Operand name);

  /// Makes the outputs ready for a run: poison, or the values of what the first one is in the place of.
  void reset_outputs();

  /// After a run: whether all of each output (but of one that was an input, or that a run may leave as it
  /// is) was written, and nothing around it.
  Status check_outputs() const;

 private:
  explicit Operands(HeldArguments arguments) : arguments_(std::move(arguments)) {}

  Status make_tensors(const OperandOptions& options);
  void fill(Operand name, const TensorView& view) const;
  void fill_in_place();

  HeldArguments arguments_;
  OperandOptions options_;
  std::vector<NamedTensor> tensors_;
};

/// The same for arguments of a known type.
template <class A>
class OperandsOf : public Operands {
 public:
  static Result<OperandsOf> make(const A& shape, const OperandOptions& options = {}) {
    Result<Operands> made = Operands::make(shape, options);
    if (!made) return made.status();
    return OperandsOf(*std::move(made));
  }

  /// As Operands::arguments().
  A& arguments;

 private:
  explicit OperandsOf(Operands operands)
      : Operands(std::move(operands)), arguments(Operands::arguments().template as<A>()) {}
};

}  // namespace quarry::lab
