/// The type of a GEMM's sums, for whoever writes an expression of them.
#pragma once

#include <optional>

#include "quarry/types.hpp"

namespace quarry {

/// The type that `sum` has in the expression of a GEMM of such operands: f32, f64 or s32.
/// @param accumulator as GemmArguments::accumulator
DType sum_type(DType a, DType b, std::optional<DType> accumulator = std::nullopt);

struct GemmArguments;

/// The same for these arguments: scales of blocks make f32 of sums of s8 and u8. It looks at types, the
/// accumulator and scales alone.
DType sum_type(const GemmArguments& arguments);

}  // namespace quarry
