/// One drawn problem, and what it is drawn from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "dice.hpp"
#include "quarry/quarry.hpp"

namespace quarry::golden {

/// Types and layouts that some kernel computes. Of a reduction, `a` and `b` are of no type, and partial sums
/// are of the accumulator's.
struct Signature {
  DType a, b, accumulator, out;
  Math math;
  Layout a_layout, b_layout, out_layout;

  friend auto operator<=>(const Signature&, const Signature&) = default;
};

/// The kernels of one signature, by name.
struct Group {
  Signature signature;
  std::vector<Kernel> kernels;
};

/// What the registry knows of the two operations, in an order that says nothing of the registry's own. Other
/// operations are left out, so that adding one changes no problem.
struct Choices {
  /// GEMMs: one list for each type of A, so that no type is drawn more often because it has more kernels.
  std::vector<std::vector<Group>> gemms;
  std::vector<Group> reductions;
  /// All of them, by name.
  std::vector<Kernel> kernels;
};

Choices choices_of_registry();

/// A question to the registry. Tensors are fake, or lie at made-up addresses, which nobody reads.
struct Problem {
  /// Which of the two arguments counts.
  bool reduces = false;
  GemmArguments gemm;
  ReduceSplitKArguments reduction;
  std::string_view filter;  ///< "": none
  FindOptions options;      ///< without the device
  DeviceModel device;
  /// Kernels that are asked by themselves.
  std::vector<Kernel> asked;

  /// The arguments' parts that both operations have.
  TensorView& out() { return reduces ? reduction.out : gemm.out; }
  std::optional<TensorView>& c() { return reduces ? reduction.c : gemm.c; }
  Epilogue& epilogue() { return reduces ? reduction.epilogue : gemm.epilogue; }
};

/// The operands that a problem has, with their names.
std::vector<std::pair<std::string_view, TensorView*>> operands(Problem& problem);

/// Draws a problem. The same seed and index give the same one.
Problem draw(const Choices& choices, std::uint64_t seed, std::uint64_t index);

/// The type in which an epilogue computes.
DType compute_type(DType accumulator, DType out);

/// Adds bias, scale, residual, aux, c, scalars, activation and clamp to a problem with an output.
/// @param compute the type that the epilogue computes in
void draw_epilogue(Problem& problem, DType compute, bool arrays, Dice& dice);

/// Makes one thing wrong, or at least unusual.
void spoil(Problem& problem, Dice& dice);

}  // namespace quarry::golden
