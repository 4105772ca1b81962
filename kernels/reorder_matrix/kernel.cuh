/// Copies matrices from one layout to another.
#pragma once

#include "arch/arch.hpp"
#include "common/interleaved.hpp"
#include "common/matrix_view.cuh"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/params.hpp"

namespace quarry::reorder_matrix {

/// What moves an element of so many bytes.
template <int bytes>
struct ElementOf;
template <>
struct ElementOf<1> {
  using Type = unsigned char;
};
template <>
struct ElementOf<2> {
  using Type = unsigned short;
};
template <>
struct ElementOf<4> {
  using Type = unsigned;
};
template <>
struct ElementOf<8> {
  using Type = unsigned long long;
};

/// The tile of one block.
struct Tile {
  int batch;
  int first_row;
  int first_column;
};

QUARRY_DEVICE Tile tile_of_block(const ReorderParams& params) {
  const auto across = static_cast<unsigned>(tiles_along(params.columns));
  const auto down = static_cast<unsigned>(tiles_along(params.rows));
  const unsigned block = arch::block_index();
  const unsigned row = block / across;
  return {static_cast<int>(row / down), static_cast<int>(row % down) * tile_extent,
          static_cast<int>(block % across) * tile_extent};
}

/// Four neighbours of a line: where they are in the tile and in the matrix, and how many of them exist.
struct QuadPlace {
  int tile_line;
  int tile_element;
  int line;
  int element;
  int count;
};

/// Neighbouring threads take neighbouring fours of 32 elements of a line, then elements of the next lines:
/// what lies together in an interleaved matrix, and whole sectors of any other.
QUARRY_DEVICE QuadPlace place_of(const ReorderParams& params, const ReorderSide& side, const Tile& tile,
                                 int index) {
  constexpr int quads = interleave / 4;
  QuadPlace place;
  place.tile_line = index / quads % tile_extent;
  place.tile_element = index / (quads * tile_extent) * interleave + index % quads * 4;
  place.line = (side.lines_are_rows ? tile.first_row : tile.first_column) + place.tile_line;
  place.element = (side.lines_are_rows ? tile.first_column : tile.first_row) + place.tile_element;
  const int lines = side.lines_are_rows ? params.rows : params.columns;
  const int left = (side.lines_are_rows ? params.columns : params.rows) - place.element;
  place.count = place.line >= lines || left < 0 ? 0 : left < 4 ? left : 4;
  return place;
}

/// One side, read or written four elements at a time.
template <class T>
class Lines {
 public:
  QUARRY_DEVICE Lines(const ReorderSide& side, int batch)
      : side_(side), data_(static_cast<const T*>(side.data) + batch * side.batch_stride) {
    const long long leading = side.line_stride | (side.interleaved ? side.element_stride : 0);
    const auto bytes =
        reinterpret_cast<unsigned long long>(data_) | static_cast<unsigned long long>(leading) * sizeof(T);
    quads_aligned_ = (side.interleaved || side.element_stride == 1) && bytes % alignof(Quad<T>) == 0;
  }

  QUARRY_DEVICE Quad<T> load(const QuadPlace& place) const {
    if (quads_aligned_ && place.count == 4) return arch::global_load<Quad<T>>(at(place, 0));
    Quad<T> quad = {};
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) quad.v[i] = arch::global_load<T>(at(place, i));
    }
    return quad;
  }

  QUARRY_DEVICE void store(const QuadPlace& place, const Quad<T>& quad) const {
    if (quads_aligned_ && place.count == 4) {
      arch::global_store(const_cast<T*>(at(place, 0)), quad);
      return;
    }
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) arch::global_store(const_cast<T*>(at(place, i)), quad.v[i]);
    }
  }

 private:
  QUARRY_DEVICE const T* at(const QuadPlace& place, int i) const {
    return data_ + (place.line * side_.line_stride +
                    distance(side_.interleaved, place.element + i, side_.element_stride));
  }

  const ReorderSide& side_;
  const T* data_;
  bool quads_aligned_;
};

/// The kernel: reads a tile along the lines of one matrix, writes it along the lines of the other.
template <Config config>
QUARRY_DEVICE void kernel(const ReorderParams& params) {
  using T = typename ElementOf<element_bytes(config)>::Type;
  constexpr int quads = tile_extent * tile_extent / 4;
  const arch::SharedAddress staged = arch::shared_memory();
  const Tile tile = tile_of_block(params);
  const auto staged_at = [&](const ReorderSide& side, const QuadPlace& place, int i) {
    const int line = place.tile_line;
    const int element = place.tile_element + i;
    const int offset =
        side.lines_are_rows ? line * row_elements(config) + element : element * row_elements(config) + line;
    return staged + offset * element_bytes(config);
  };

  const Lines<T> from(params.from, tile.batch);
  for (int index = arch::thread_index(); index < quads; index += threads(config)) {
    const QuadPlace place = place_of(params, params.from, tile, index);
    const Quad<T> quad = from.load(place);
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) arch::shared_store(staged_at(params.from, place, i), quad.v[i]);
    }
  }
  arch::block_barrier();
  const Lines<T> to(params.to, tile.batch);
  for (int index = arch::thread_index(); index < quads; index += threads(config)) {
    const QuadPlace place = place_of(params, params.to, tile, index);
    Quad<T> quad = {};
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < place.count) quad.v[i] = arch::shared_load<T>(staged_at(params.to, place, i));
    }
    to.store(place, quad);
  }
}

}  // namespace quarry::reorder_matrix
