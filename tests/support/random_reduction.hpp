/// Random reductions for property tests: fake tensors that lab::Operands gives memory to.
#pragma once

#include "quarry/reduce_split_k.hpp"
#include "support/operation_rows.hpp"
#include "support/random_gemm.hpp"

namespace quarry::test {

/// The rows that reduce.
inline std::span<const detail::Row> reduction_rows() { return rows_of(Operation::reduce_split_k); }

/// A reduction to the types of a row: up to 9 slices, an output of any strides, an epilogue by chance.
inline ReduceSplitKArguments random_reduction(Random& random, const detail::Row& row, int most = 150) {
  const DType sums = row.metadata.operands.accumulator;
  const DType out = row.metadata.operands.out.dtype;
  const Layout layout = coin(random) ? Layout::row : Layout::column;
  const Layout own = row.metadata.operands.out.layout;
  const Layouts layouts = {layout, layout, is_interleaved(own) ? own : layout};
  GemmArguments roles =
      random_shape(random, {sums, sums, sums, out}, layouts, {.m = most, .n = most, .k = 9});
  if (is_byte(out)) roles.epilogue.alpha.value *= 0x1p-16;  // of sums of all sizes
  const TensorView& to = roles.out;
  const std::int64_t slices = between(random, 1, 9);
  TensorView partials =
      to.rank == 3
          ? TensorView::row_major(nullptr, sums, {slices, to.extents[0], to.extents[1], to.extents[2]})
          : TensorView::row_major(nullptr, sums, {slices, to.extents[0], to.extents[1]});
  partials.assumed_alignment = static_cast<std::uint16_t>(bytes_of(sums) * (coin(random) ? 1 : 4));
  return {.partials = partials, .c = roles.c, .out = roles.out, .epilogue = roles.epilogue};
}

}  // namespace quarry::test
