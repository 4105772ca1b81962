/// A grouped GEMM as the command line describes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grouped_gemm/params.hpp"
#include "lab/problems/epilogue_spec.hpp"
#include "lab/problems/operand_spec.hpp"
#include "quarry/grouped_gemm.hpp"

namespace quarry::lab::grouped_gemm {

struct Problem {
  static constexpr Operation operation = Operation::grouped_gemm;

  GroupForm form = GroupForm::contiguous;
  std::int64_t groups = 1;
  /// Rows of each output of ragged K; not used by the other forms.
  std::int64_t m = 0;
  std::int64_t n = 0;
  /// Not used by ragged K.
  std::int64_t k = 0;
  /// What the groups share: rows in all (contiguous), rows of each (masked), positions of K (ragged K).
  std::int64_t room = 0;
  SizesAre sizes_are = SizesAre::ends;
  /// One for each group, as the arguments have them.
  std::vector<std::int32_t> sizes;
  /// The name of what made the sizes, of so many rows or positions in all; empty: they were given.
  std::string distribution;
  std::int64_t tokens = 0;
  /// What the ranking expects of the largest group.
  std::optional<std::int64_t> largest = {};
  bool zero_outside = false;
  bool clamp_host_sizes = false;
  OperandSpec a = {};
  OperandSpec b = {};
  OperandSpec out = {};
  /// Granularities; nothing: no scales.
  std::optional<ScaleGranularity> a_scale = {};
  std::optional<ScaleGranularity> b_scale = {};
  std::optional<DType> accumulator = {};
  EpilogueSpec epilogue = {};
  /// In the place of the epilogue, which is left as it is.
  std::optional<Expression> expression = {};
  /// An input of the expression that is `out` itself; empty: none.
  std::string in_place = {};
  /// Vectors and tables of the expression that have values of their own for each group.
  std::vector<std::string> of_each = {};
  /// Rows of the expression's tables; 0: as many as `out` has.
  std::int64_t table_rows = 0;

  /// The groups that the text of the operands has. A batch of 0 entries has no text, so it is written as one
  /// of 1.
  std::int64_t said_groups() const { return groups > 0 ? groups : 1; }
  /// Entries of the output's batch, as said_groups; 0: it is no batch.
  std::int64_t entries() const { return form == GroupForm::contiguous ? 0 : said_groups(); }
  std::int64_t out_rows() const { return form == GroupForm::ragged_k ? m : room; }
  /// Columns of the output: of gated pairs half of B's.
  std::int64_t output_columns() const { return expression && expression->is_gated() ? n / 2 : n; }
  OutputSpec output() const { return {out, entries(), out_rows(), output_columns()}; }
  /// The type that products are summed in, and the one that the epilogue computes in.
  DType sums() const;
  DType compute() const;
  /// How the groups lie. The sizes belong to this problem, which must live as long.
  GroupParams group_params() const;
};

}  // namespace quarry::lab::grouped_gemm
