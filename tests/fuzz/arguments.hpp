/// Fuzzed arguments of any operation: made right, then changed in any part, then asked and run.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "fuzz/input.hpp"
#include "lab/problems/held_arguments.hpp"
#include "operations/common/row.hpp"
#include "quarry/controls.hpp"
#include "quarry/epilogue.hpp"
#include "quarry/kernel.hpp"
#include "quarry/tensor.hpp"

namespace quarry::fuzz {

/// Puts any value into any part.
void change(TensorView& view, Input& input);
void change(Epilogue& epilogue, const TensorView& out, Input& input);
void change(Controls& controls, Input& input);

/// Any type of sums, or none.
void change(std::optional<DType>& accumulator, Input& input);

/// Makes an operand that may be absent so, or another view's copy, or changes it.
void change(std::optional<TensorView>& view, const TensorView& other, Input& input);

/// What an operand in host memory begins with; the harness makes up the rest.
struct Contents {
  Operand name = Operand::none;
  std::span<const std::byte> bytes = {};
};

/// Asks the registry and a kernel what they make of the arguments, fake or on exact-size host memory, and
/// runs the kernel. What it refuses must not run, what the registry offers must be taken, and memory beside
/// the operands must not be touched.
/// @param choice which of these, by its bits; the input says the rest
/// @param contents of an operand whose values matter to what a run does
void try_arguments(lab::HeldArguments arguments, const detail::Row& row, std::uint16_t choice, Input& input,
                   const Contents& contents = {});

}  // namespace quarry::fuzz
