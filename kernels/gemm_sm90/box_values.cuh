/// Values of a warp between registers, where they lie as the matrix instruction leaves its sums, and a box in
/// shared memory.
#pragma once

#include "common/element.cuh"
#include "gemm_sm90/config.hpp"

namespace quarry::gemm_sm90 {

/// The values of a lane in a part of its warp's 16 rows: of each group of eight columns four, columns 2 (lane
/// % 4) and the next of row lane / 4, then of row lane / 4 + 8 (PTX ISA, wgmma register fragments).
template <int count, class Value = float>
struct StepValues {
  Value v[count];
};

/// A matrix of 8 x 8 elements of 16 bits as a lane holds it: the pair of group `group` and half `half`.
template <class Out, int count>
QUARRY_DEVICE unsigned packed_pair(const StepValues<count>& x, int group, int half) {
  return arch::pair_of<Out>(x.v[4 * group + 2 * half], x.v[4 * group + 2 * half + 1]);
}

/// Where a lane's line of the four matrices begins that cover the first 16 columns of a box: even matrices
/// are the upper rows, the first two the first eight columns. Of eight columns the first two matrices count,
/// and the addresses of the others repeat them.
template <OutputBox box>
QUARRY_DEVICE int matrix_line(int lane, bool is_whole) {
  const int second = is_whole ? lane / 16 * 8 : 0;
  return box.row_major ? box.offset(lane % 16, second) : box.offset(lane / 8 % 2 * 8, second + lane % 8);
}

/// A lane's pair of neighbouring columns in a box of elements of 32 or 8 bits.
template <OutputBox box, class Out>
QUARRY_DEVICE void put_pair(arch::SharedAddress buffer, int offset, const arch::Vector<Out, 2>& pair) {
  if constexpr (box.row_major) {
    arch::shared_store(buffer + offset, pair);
  } else {
    arch::shared_store(buffer + offset, pair.v[0]);
    arch::shared_store(buffer + box.moved(offset, 0, 1), pair.v[1]);
  }
}
template <OutputBox box, class Out>
QUARRY_DEVICE arch::Vector<Out, 2> get_pair(arch::SharedAddress buffer, int offset) {
  if constexpr (box.row_major) {
    return arch::shared_load<arch::Vector<Out, 2>>(buffer + offset);
  } else {
    return {arch::shared_load<Out>(buffer + offset),
            arch::shared_load<Out>(buffer + box.moved(offset, 0, 1))};
  }
}

/// Calls `each(group, half, offset)` for the pairs of a lane in columns [first, first + 8 groups) of such a
/// box.
template <OutputBox box, class Each>
QUARRY_DEVICE void for_each_pair(int lane, int first, int groups, const Each& each) {
  const int offset = box.offset(lane / 4, lane % 4 * 2);
  QUARRY_UNROLL
  for (int group = 0; group < groups; ++group) {
    QUARRY_UNROLL
    for (int half = 0; half < 2; ++half) each(group, half, box.moved(offset, 8 * half, first + 8 * group));
  }
}

/// Rounds values and puts them into columns [first, first + count / 2) of a box.
template <OutputBox box, class Out, int count, class Value>
QUARRY_DEVICE void put_values(arch::SharedAddress buffer, int first, int lane,
                              const StepValues<count, Value>& x) {
  constexpr int groups = count / 4;
  if constexpr (sizeof(Out) == 2) {
    QUARRY_UNROLL
    for (int group = 0; group < groups; group += 2) {
      const bool is_whole = group + 1 < groups;
      const arch::SharedAddress to =
          buffer + box.moved(matrix_line<box>(lane, is_whole), 0, first + 8 * group);
      const unsigned upper = packed_pair<Out>(x, group, 0);
      const unsigned lower = packed_pair<Out>(x, group, 1);
      if (is_whole) {
        const arch::MatrixFragment f = {upper, lower, packed_pair<Out>(x, group + 1, 0),
                                        packed_pair<Out>(x, group + 1, 1)};
        box.row_major ? arch::store_matrix_x4(to, f) : arch::store_matrix_x4_transposed(to, f);
      } else {
        const arch::FragmentB f = {upper, lower};
        box.row_major ? arch::store_matrix_x2(to, f) : arch::store_matrix_x2_transposed(to, f);
      }
    }
  } else {
    for_each_pair<box>(lane, first, groups, [&](int group, int half, int offset) {
      const int i = 4 * group + 2 * half;
      put_pair<box, Out>(buffer, offset, to_elements<Out>(x.v[i], x.v[i + 1]));
    });
  }
}

/// Rounds two neighbours in a row, and writes them to global memory at once.
template <class Out, class Value>
QUARRY_DEVICE void write_pair(Out* to, Value left, Value right) {
  if constexpr (sizeof(Out) == 2) {
    arch::global_store(to, arch::pair_of<Out>(left, right));
  } else {
    arch::global_store(to, to_elements<Out>(left, right));
  }
}

/// x + factor * values that lie in those columns.
template <OutputBox box, class Out, int count, class Value>
QUARRY_DEVICE void add_values(StepValues<count, Value>& x, Value factor, arch::SharedAddress buffer,
                              int first, int lane) {
  constexpr int groups = count / 4;
  const auto add = [&](int i, Value value) { x.v[i] = multiplied_added(factor, value, x.v[i]); };
  if constexpr (sizeof(Out) == 2) {
    QUARRY_UNROLL
    for (int group = 0; group < groups; group += 2) {
      const bool is_whole = group + 1 < groups;
      const arch::SharedAddress from =
          buffer + box.moved(matrix_line<box>(lane, is_whole), 0, first + 8 * group);
      const arch::MatrixFragment f =
          box.row_major ? arch::load_matrix_x4(from) : arch::load_matrix_x4_transposed(from);
      QUARRY_UNROLL
      for (int matrix = 0; matrix < (is_whole ? 4 : 2); ++matrix) {
        const unsigned word = f.v[matrix];
        add(4 * group + 2 * matrix, arch::to_f32(Out{static_cast<unsigned short>(word)}));
        add(4 * group + 2 * matrix + 1, arch::to_f32(Out{static_cast<unsigned short>(word >> 16)}));
      }
    }
  } else {
    for_each_pair<box>(lane, first, groups, [&](int group, int half, int offset) {
      const arch::Vector<Out, 2> pair = get_pair<box, Out>(buffer, offset);
      add(4 * group + 2 * half, to_compute<Value>(pair.v[0]));
      add(4 * group + 2 * half + 1, to_compute<Value>(pair.v[1]));
    });
  }
}

}  // namespace quarry::gemm_sm90
