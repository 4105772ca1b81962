/// Random values, the same for the same seed on every machine.
#pragma once

#include <cstdint>

#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab {

/// What operands hold.
enum class Values : std::uint8_t {
  uniform,         ///< uniform in [-1, 1), rounded to the operand's type; of an integer type, over all of it,
                   ///< one in 16 its least or its greatest number
  small_integers,  ///< -2 to 2 (unsigned: 0 to 2), so that every sum is exact in every type as long as its
                   ///< magnitude stays below 2048
};

struct FillOptions {
  std::uint64_t seed = 0;
  Values values = Values::uniform;
  /// The values do not depend on it.
  int threads = 1;
};

/// Fills a tensor in host memory with the values that operand number `operand` has under these options. An
/// element's value depends on the seed, the operand and its (matrix, row, column) alone, not on layout or
/// stride: problems that differ in those alone have the same result.
void fill_random(const TensorView& tensor, std::uint64_t operand, const FillOptions& options);

/// The number that an operand's values go by.
std::uint64_t value_number(Operand operand);

}  // namespace quarry::lab
