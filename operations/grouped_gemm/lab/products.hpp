/// The products of a grouped GEMM: what each group multiplies, and where its outputs are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grouped_gemm/params.hpp"
#include "lab/reference/reference.hpp"
#include "quarry/tensor.hpp"

namespace quarry::lab::grouped_gemm {

/// What of the operands a group multiplies, and where its outputs are.
struct GroupProduct {
  GroupSpan span;
  std::int64_t a_entry, b_entry, out_entry;
  std::int64_t a_row;  ///< of A, of the first row of the output's `first_row`
  std::int64_t first_row, rows;
  std::int64_t a_k, b_k, k;
};

/// Places in a list.
struct PlaceRange {
  std::size_t begin, end;
};

/// Where those rows are that a group has in its entry of the output. @param rows ascending
PlaceRange places_of(const GroupProduct& group, const std::vector<std::int64_t>& rows);

/// The groups of a problem, by the rules for sizes. @param m, k of the problem, as if all groups were full
std::vector<GroupProduct> products_of(const GroupParams& groups, std::int64_t m, std::int64_t k);

/// What is expected of rows outside of all groups: 0, or what is there now.
void set_outside(const TensorView& view, bool is_zero, const std::vector<GroupProduct>& groups,
                 Expected& expected);

}  // namespace quarry::lab::grouped_gemm
