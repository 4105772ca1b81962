/// A list of GEMMs as the command line describes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gemm_list/params.hpp"
#include "lab/problems/epilogue_spec.hpp"
#include "lab/problems/operand_spec.hpp"
#include "quarry/gemm_list.hpp"

namespace quarry::lab::gemm_list {

/// The leading dimensions of one problem: of a, b, c and out.
using Leading = std::array<std::int32_t, list_matrices>;

struct Problem {
  static constexpr Operation operation = Operation::gemm_list;

  /// What the operand holds, sense or not.
  std::vector<ListExtents> sizes;
  /// Extents of the operands' matrices.
  ListExtents bounds = {};
  /// One for each problem; empty: the operands' strides hold.
  std::vector<Leading> leading;
  /// What `leading` is promised to keep; nothing: the most that its numbers do.
  std::optional<int> leading_alignment = {};
  bool clamp_host_sizes = false;
  ListSchedule schedule = ListSchedule::device;
  /// Arrays of pointers, unless they have a batch stride or are shared.
  OperandSpec a = {};
  OperandSpec b = {};
  OperandSpec out = {};
  /// Granularities of scales; nothing: no scales. Those of an operand are stored as it is: by an array of
  /// pointers, as a batch, or as one matrix for all problems.
  std::optional<ScaleGranularity> a_scale = {};
  std::optional<ScaleGranularity> b_scale = {};
  std::optional<DType> accumulator = {};
  EpilogueSpec epilogue = {};
  /// In the place of the epilogue, which is left as it is.
  std::optional<Expression> expression = {};
  /// An input of the expression that is `out` itself; empty: none.
  std::string in_place = {};
  /// Vectors and tables of the expression that have values of their own for each problem.
  std::vector<std::string> of_each = {};
  /// Rows of the expression's tables; 0: as many as the bounds.
  std::int64_t table_rows = 0;

  std::int64_t count() const { return static_cast<std::int64_t>(sizes.size()); }
  /// Columns of the output: of gated pairs half of B's, which the bounds and sizes count.
  int output_columns() const { return is_gated() ? bounds.n / 2 : bounds.n; }
  OutputSpec output() const { return {out, count(), bounds.m, output_columns()}; }
  /// The type that products are summed in, and the one that the epilogue computes in.
  DType sums() const;
  DType compute() const;
  bool is_gated() const { return expression && expression->is_gated(); }
  /// What N of each problem is a multiple of, whichever kernel computes it; 1 without gated pairs.
  int pair_unit() const;
  /// The sizes within the bounds, of whole pairs.
  ListExtents own(std::size_t number) const;
  /// The same of the output.
  ListExtents own_output(std::size_t number) const;
};

}  // namespace quarry::lab::gemm_list
