/// A GEMM as the command line describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lab/problems/epilogue_spec.hpp"
#include "lab/problems/operand_spec.hpp"
#include "quarry/gemm.hpp"

namespace quarry::lab::gemm {

struct Problem {
  static constexpr Operation operation = Operation::gemm;

  std::int64_t m = 0;
  std::int64_t n = 0;  ///< columns of B
  std::int64_t k = 0;
  /// Entries of the batch; 0: no batch, operands of rank 2.
  std::int64_t batch = 0;
  OperandSpec a = {};
  OperandSpec b = {};
  OperandSpec out = {};
  /// Scales of A and B, of each batch entry; absent: none.
  std::optional<ScaleGranularity> a_scale = {};
  std::optional<ScaleGranularity> b_scale = {};
  /// Whether B has zero points, too.
  bool b_zero = false;
  std::optional<DType> accumulator = {};
  Math math = Math::exact;
  Accumulation accumulation = Accumulation::fast;
  EpilogueSpec epilogue = {};
  /// In the place of the epilogue, which is left as it is.
  std::optional<Expression> expression = {};
  /// An input of the expression that is `out` itself; empty: none.
  std::string in_place = {};
  /// Rows of the expression's tensors whose rows an index chooses; 0: as many as `out` has.
  std::int64_t table_rows = 0;
  Controls controls = {};

  OutputSpec output() const { return {out, batch, m, output_columns()}; }
  /// Of a gated pair half the columns of B.
  std::int64_t output_columns() const { return expression && expression->is_gated() ? n / 2 : n; }
  /// The type that products are summed in.
  DType sums() const;
  /// The type that the epilogue computes in.
  DType compute() const;
  /// The type of the sums that an expression reads.
  DType expressed_sums() const;
};

}  // namespace quarry::lab::gemm
