/// A GEMM problem after its arguments were checked: what families decide and launch by. Host only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "chosen_controls.hpp"
#include "common/config_parts.hpp"
#include "gemm/operand_scale.hpp"
#include "gemm/params.hpp"
#include "gemm/traffic.hpp"
#include "quarry/expression.hpp"
#include "quarry/expression_tensor.hpp"
#include "quarry/gemm.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// One matrix operand of a checked problem.
struct ProblemOperand {
  MatrixParams matrix = {};
  /// Whether the operand can be read as this layout, by Layout. An extent of 1 fits both; where neither
  /// stride is 1, the layout of the smaller one fits. An interleaved one fits its own layout alone.
  bool fits[layout_count] = {};
  /// Greatest power of two of elements, up to 16 bytes' worth, that pointer, leading dimension and batch
  /// stride are multiples of when read as this layout, by Layout; 0 where the contiguous extent's stride is
  /// not 1.
  std::uint8_t alignment[layout_count] = {};
  /// Bytes, up to 16, that the pointer is a multiple of, or is assumed to be.
  std::uint8_t pointer_bytes = 1;
};

/// What an expression needs beyond the sum of each element: a gated pair, and how many reductions that leave
/// a value for each group of columns, row, column, and for all.
struct WideNeeds {
  bool gated = false;
  int groups = 0;
  int rows = 0;
  int columns = 0;
  int all = 0;
  /// The pair's columns of B lie in blocks of eight by turns; otherwise in halves.
  bool eights = false;

  constexpr bool has_lines() const { return rows + columns + all > 0; }
  constexpr bool has_any() const { return gated || groups > 0 || has_lines(); }
};

/// An expression in the place of the epilogue, as arguments give it, which outlive this. The output has four
/// extents here, of which those that it lacks in front are 1: the first ones are the batch, the next ones
/// rows, and the last ones columns.
struct GivenExpression {
  const Expression* expression = nullptr;  ///< null: there is no expression
  std::span<const ExpressionTensor> tensors = {};
  const TensorView* out = nullptr;
  std::uint8_t first_row = 2;
  std::uint8_t first_column = 3;
  /// Where the rows of the output belong to groups, of which each may have its own values of columns: how
  /// many groups there are, 0 of them too. These vectors are a batch, and nothing else is. Absent: rows have
  /// no groups.
  std::optional<std::int64_t> column_entries = std::nullopt;
  /// The output may be an array of pointers with gated pairs and reductions, too.
  bool takes_arrays = false;

  explicit operator bool() const { return expression != nullptr; }
};

/// A checked problem, in the orientation of its arguments or, after `exchanged`, of their transposes. Sizes
/// of 0 are legal.
struct GemmProblem {
  Types types = {};
  Math math = Math::exact;
  ProblemOperand a;
  ProblemOperand b;
  ProblemOperand c;  ///< matrix.data may be null for a fake tensor; see has_c
  ProblemOperand out;
  /// Sums of 8-bit floating-point operands may not stay in a matrix instruction (Accumulation::precise).
  bool must_promote = false;
  /// Absent where K is 0, as nothing is multiplied; but beside an expression, whose `sum` they may make f32.
  OperandScales scales;
  bool has_c = false;  ///< C will be read: beta is not known to be 0
  bool has_bias = false;
  bool has_scale = false;
  bool has_residual = false;
  bool has_aux = false;
  /// Some operand is an array of pointers.
  bool has_arrays = false;
  EpilogueParams epilogue = {};
  GivenExpression expressed = {};
  /// Matrices that the expression reads or writes beside the output.
  std::uint8_t expression_matrices = 0;
  WideNeeds wide = {};
  int m = 0;
  int n = 0;  ///< columns of B; the output of a gated pair has half of them
  int k = 0;
  int batch = 1;
  /// How often each element of the tensor behind A and B is in it, where that is the windows of images.
  float repeats_a = 1;
  float repeats_b = 1;
  /// This is the transpose of what the caller asked for, so that his `a` is `b` here: messages name operands
  /// accordingly.
  bool is_exchanged = false;
  /// Operands that the kernel does not take as they are may be copied first: the row says so
  /// (DesignMetadata::reorders), as rows with and without copies share a config and a profile.
  bool reorders = false;
  /// What the caller fixed; unset parts are the family's to choose.
  Controls controls = {};
  /// traffic_of this problem, where many kernels are ranked for it; absent: whoever asks computes it.
  std::optional<GemmTraffic> traffic = std::nullopt;
};

/// Matrices of the output's size that an epilogue reads or writes: the output, and C, residual and aux, or
/// the tensors of an expression.
constexpr int epilogue_matrices(const GemmProblem& problem) {
  return 1 + static_cast<int>(problem.has_c) + static_cast<int>(problem.has_residual) +
         static_cast<int>(problem.has_aux) + problem.expression_matrices;
}

/// The first operand that is an array of pointers, as the caller names it; none where there is no such.
Operand array_operand(const GemmProblem& problem);

/// out^T = b^T a^T over the same memory: rows and columns of everything exchanged, of the epilogue and
/// the raster too.
GemmProblem exchanged(const GemmProblem& problem);

}  // namespace quarry
