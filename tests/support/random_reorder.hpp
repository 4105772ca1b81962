/// Random reorders for property tests: fake tensors that lab::Operands gives memory to.
#pragma once

#include "quarry/reorder.hpp"
#include "support/operation_rows.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

/// The rows that reorder.
inline std::span<const detail::Row> reorder_rows() { return rows_of(Operation::reorder); }

/// A reorder of elements of a type: of each two layouts that it may have in turn, to other alignments,
/// padded, with a batch by chance. @param most of an extent
inline ReorderArguments random_reorder(Random& random, DType type, int number, int least, int most) {
  constexpr int alignments[] = {1, 2, 4, 16};
  const int layouts = takes_integer_sums(type) ? layout_count : 2;
  const auto source = static_cast<Layout>(number % layouts);
  const auto target = static_cast<Layout>(number / layouts % layouts);
  const bool is_whole = is_interleaved(source) || is_interleaved(target);
  const auto extent = [&] {
    return is_whole ? interleave * between(random, least, most / interleave) : between(random, least, most);
  };
  const int rows = extent();
  const int columns = extent();
  const int batch = coin(random) ? 0 : between(random, 1, 3);
  const auto matrix = [&](Layout layout) {
    return padded_matrix(random, type, layout, one_of(random, alignments), batch, rows, columns);
  };
  return {.from = matrix(source), .to = matrix(target)};
}

}  // namespace quarry::test
