/// Host memory for fuzzed operands: exactly what a view covers, so that the address sanitizer sees every
/// access beside it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "quarry/epilogue.hpp"
#include "quarry/kernel.hpp"
#include "quarry/tensor.hpp"

namespace quarry::fuzz {

/// Elements of a view, counted as often as they are read; more than can be worked on in a moment: a large
/// number.
double elements(const TensorView& view);

/// Owns what it gives.
class ExactMemory {
 public:
  /// @param seed says what the memory holds, and how far from an aligned address it starts
  explicit ExactMemory(std::uint8_t seed) : seed_(seed) {}

  /// Points the view to memory of its own. A view that covers more than some KiB becomes a fake one; one that
  /// covers nothing that can be said (negative extents) gets a pointer to no byte.
  void give(TensorView& view);

  /// Writes these bytes, as far as the view covers any. @pre it was given memory
  static void write(const TensorView& view, std::span<const std::byte> bytes);

  /// Points a scalar that is read through a pointer to a value of this type.
  void give(Scalar& scalar, DType type);

  /// A workspace of so many bytes; none where they are too many.
  Workspace workspace(std::size_t bytes);

 private:
  std::byte* bytes(std::size_t count, std::size_t shift);
  void give_array(TensorView& view);

  std::uint8_t seed_;
  std::vector<std::unique_ptr<std::byte[]>> held_;
  std::vector<std::unique_ptr<const void*[]>> arrays_;
  std::vector<std::shared_ptr<void>> workspaces_;
};

}  // namespace quarry::fuzz
