/// Scales of operands: their extents, their checks, and what of them a checked problem holds.
#pragma once

#include <cstdint>
#include <optional>

#include "gemm/operand_scale.hpp"
#include "quarry/gemm.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Rows and columns of a matrix.
struct MatrixExtents {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  friend bool operator==(const MatrixExtents&, const MatrixExtents&) = default;
};

/// The scales of one operand, as a caller gives them.
struct GivenScale {
  Operand name;  ///< a_scale, b_scale or b_zero
  const std::optional<TensorView>& view;
  ScaleGranularity granularity;
  MatrixExtents of;            ///< extents of the operand
  int most_rank;               ///< 3 where there may be scales for each entry of a batch
  std::int64_t entries = 0;    ///< of that batch
  bool may_be_grouped = true;  ///< whether scales may change every 32 or 64 positions of K
  /// Whether kernels of these types take such scales: messages offer them only then.
  bool offers_groups = true;
  DType type = DType::f32;
};

/// Checks scales, if there are some: their type, strided, of extents that the granularity gives them.
/// @param compute as below
Status check_scale(const GivenScale& scale, DType compute);

/// How they are walked. @pre check_scale
OperandScale operand_scale(const GivenScale& scale);

/// Whether A or B has scales.
inline bool has_scales(const GemmArguments& arguments) { return arguments.a_scale || arguments.b_scale; }

/// Whether an operand may have scales of this granularity. @param scale a_scale, b_scale or b_zero
bool permits(Operand scale, ScaleGranularity granularity);

/// Extents of the scales of an operand. @param of extents of A for a_scale, of B for the others
/// @pre permits()
MatrixExtents scale_extents(Operand scale, ScaleGranularity granularity, const MatrixExtents& of);

/// Checks both scales against the operands: f32, strided, of extents that the granularity gives them; then
/// zero points, which need scales and unsigned weights.
/// @pre A, B and `out` were checked
/// @param compute what the epilogue is computed in (compute_type): s32 has no scales
Status check_scales(const GemmArguments& arguments, DType compute);

/// How both are walked. @pre check_scales
OperandScales operand_scales(const GemmArguments& arguments);

}  // namespace quarry::detail
