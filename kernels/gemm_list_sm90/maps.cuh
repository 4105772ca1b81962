/// The tensor maps of a list's problems: how they are made, and which one is whose.
#pragma once

#include "arch/sm90.hpp"
#include "common/element.cuh"
#include "common/matrix_view.cuh"
#include "gemm_list/schedule.cuh"
#include "gemm_list_sm90/config.hpp"
#include "gemm_list_sm90/params.hpp"

namespace quarry::gemm_list_sm90 {

using Params = ListTensorGemmParams;

/// A map of a problem.
enum class Map : int { a, b, out };

QUARRY_DEVICE TensorMap& map_of(const Params& params, int problem, Map which) {
  return params.maps[static_cast<long long>(problem) * list_maps + static_cast<int>(which)];
}

/// A problem's leading dimension of C or the output, as it was given. @pre the list has leading dimensions
QUARRY_DEVICE int given_leading(const Params& params, int problem, ListMatrix matrix) {
  return arch::global_load<int>(leading_at(params.list, problem, matrix));
}

/// A problem's output as the batch entry `problem` of a batch. @param own extents of the output
QUARRY_DEVICE MatrixParams output_of(const Params& params, int problem, const ListExtents& own) {
  if (params.list.leading == nullptr) return params.gemm.out;
  return with_leading(params.gemm.out, is_by_columns(params.list, ListMatrix::out),
                      given_leading(params, problem, ListMatrix::out), own.m, own.n, 1);
}

/// Whether the engine can store a problem's output: it writes chunks of 16 bytes as a whole, which the end of
/// a line must not cut. @param own extents of the output
template <class Out>
QUARRY_DEVICE bool has_boxes(const Params& params, const ListExtents& own, const MatrixParams& output) {
  constexpr int elements = 16 / sizeof(Out);
  return params.stores_boxes && own.n % elements == 0 && (own.m <= 1 || output.row_stride % elements == 0);
}

/// The matrix of a batch entry. @param by_rows its lines are rows
template <class T>
QUARRY_DEVICE MatrixLines lines_of(const MatrixParams& matrix, int entry, bool by_rows, int rows,
                                   int columns) {
  const int lines = by_rows ? rows : columns;
  const long long stride = by_rows ? matrix.row_stride : matrix.column_stride;
  constexpr int any_stride = 16;  // of one line: never used
  return {static_cast<const T*>(matrix.data) + batch_offset(matrix, entry, sizeof(T)),
          by_rows ? columns : rows, lines, lines > 1 ? stride * static_cast<int>(sizeof(T)) : any_stride};
}

/// Makes a map of a problem, where somebody will copy by it; by a warp. @param scratch as make_tensor_map
/// needs it @tparam gated the output has half of B's columns
template <Config config, bool gated>
QUARRY_DEVICE void make_map(const Params& params, const ListEntry& problem, Map which,
                            arch::SharedAddress scratch) {
  using Out = Element<config.types.out>;
  const auto make = [&](const TensorMap& like, const MatrixLines& lines) {
    arch::make_tensor_map(&map_of(params, problem.batch, which), like, lines, scratch);
  };
  const ListExtents& own = problem.extents;
  if (own.m == 0 || own.n == 0) return;
  if (which == Map::out) {
    const ListExtents of_output = output_extents<gated>(own);
    const MatrixParams out = output_of(params, problem.batch, of_output);
    if (has_boxes<Out>(params, of_output, out))
      make(params.out, lines_of<Out>(out, problem.batch, true, of_output.m, of_output.n));
    return;
  }
  if (own.k == 0) return;
  const ListOperands operands = operands_of(params, problem, config.alignment);
  if (which == Map::a) {
    make(params.a, lines_of<Element<config.types.a>>(operands.a, problem.batch,
                                                     config.layouts.a == Layout::row, own.m, own.k));
  } else {
    make(params.b, lines_of<Element<config.types.b>>(operands.b, problem.batch,
                                                     config.layouts.b == Layout::row, own.k, own.n));
  }
}

/// Makes the maps of all problems, a warp one at a time: nobody multiplies before the last one is there.
/// @param memory of the block, of which each warp uses 128 bytes
/// @tparam unit what N counts in; 1 without gated pairs
template <Config config, int unit>
QUARRY_DEVICE void make_maps(const Params& params, arch::SharedAddress memory) {
  constexpr int warps = threads(config) / 32;
  const int warp = arch::thread_index() / 32;
  const long long at_once = static_cast<long long>(warps) * arch::grid_blocks();
  const long long all = static_cast<long long>(params.gemm.batch) * list_maps;
  QUARRY_ROLLED
  for (long long i = static_cast<long long>(warps) * arch::block_index() + warp; i < all; i += at_once) {
    const auto number = static_cast<int>(i / list_maps);
    const int* const row = params.list.sizes + static_cast<long long>(number) * list_extents;
    const ListExtents own =
        in_units(clamped_extents(params.gemm, {arch::global_load<int>(row), arch::global_load<int>(row + 1),
                                               arch::global_load<int>(row + 2)}),
                 unit);
    make_map<config, (unit > 1)>(params, {number, own}, static_cast<Map>(i % list_maps),
                                 memory + warp * static_cast<int>(sizeof(TensorMap)));
  }
}

}  // namespace quarry::gemm_list_sm90
