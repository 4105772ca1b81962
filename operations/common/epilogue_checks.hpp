/// Checks of the standard epilogue's operands against the output.
#pragma once

#include <cstdint>
#include <optional>

#include "quarry/epilogue.hpp"
#include "quarry/status.hpp"
#include "quarry/tensor.hpp"

namespace quarry::detail {

/// Extents of a matrix, or of each of a batch.
inline std::int64_t rows(const TensorView& matrix) { return matrix.extents[matrix.rank - 2U]; }
inline std::int64_t columns(const TensorView& matrix) { return matrix.extents[matrix.rank - 1U]; }

/// Checks an input against the shape that the other operands give it.
Status check_extents(const TensorView& input, Operand name, std::int64_t m, std::int64_t n,
                     const TensorView& out);

/// Checks C and the operands of an epilogue that is computed in `compute` (compute_type): their types,
/// layouts and extents against `out`, and its values. @pre `out` was checked
Status check_epilogue_operands(const TensorView& out, const std::optional<TensorView>& c,
                               const Epilogue& epilogue, DType compute);

}  // namespace quarry::detail
