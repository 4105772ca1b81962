/// The standard epilogue over the tiles of Iterator::window, rectangles of an output. Its rows are the rows
/// of a tile.
#pragma once

#include "common/epilogue.cuh"
#include "common/tile_writer.cuh"
#include "conv2d_sm80/window.cuh"

namespace quarry::conv2d_sm80 {

/// A tile, as the epilogue is made from: the parameters that it wants, and where the tile begins.
struct WindowTile {
  const EpilogueParams& epilogue;
  const MatrixParams& c;
  const MatrixParams& out;
  TileOrigin origin;
  int columns_log2;
  bool has_whole_quads;  ///< whether the columns of each group are
};

/// A tensor with the output's extents, from the tile's first output on.
template <class T>
class TileView {
 public:
  QUARRY_DEVICE TileView(const WindowTile& tile, const MatrixParams& tensor)
      : row_stride_(tensor.row_stride),
        column_stride_(tensor.column_stride),
        columns_log2_(tile.columns_log2) {
    const auto strides =
        static_cast<unsigned long long>(tensor.batch_stride | tensor.row_stride | tensor.column_stride);
    const auto bytes = reinterpret_cast<unsigned long long>(tensor.data) | strides * sizeof(T);
    quads_aligned = bytes % sizeof(Quad<T>) == 0 && tile.has_whole_quads;
    const TileOrigin& origin = tile.origin;
    first_ = static_cast<const T*>(tensor.data) + origin.image * tensor.batch_stride +
             offset_of(tensor, origin.row, origin.column);
  }

  bool quads_aligned;

  QUARRY_DEVICE const T* at(int row, int column) const {
    const int down = row >> columns_log2_;
    const int across = row & ((1 << columns_log2_) - 1);
    return first_ + (down * row_stride_ + across * column_stride_ + column);
  }

  /// See OutputView.
  QUARRY_DEVICE Quad<T> load(int row, int column, int count, T otherwise = {}) const {
    if (quads_aligned && count == 4) return arch::global_load<Quad<T>>(at(row, column));
    Quad<T> quad;
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      quad.v[i] = otherwise;
      if (i < count) quad.v[i] = arch::global_load<T>(at(row, column + i));
    }
    return quad;
  }
  QUARRY_DEVICE void store(int row, int column, int count, const Quad<T>& quad) const {
    if (quads_aligned && count == 4) {
      arch::global_store(const_cast<T*>(at(row, column)), quad);
      return;
    }
    QUARRY_UNROLL
    for (int i = 0; i < 4; ++i) {
      if (i < count) arch::global_store(const_cast<T*>(at(row, column + i)), quad.v[i]);
    }
  }

 private:
  const T* first_;
  long long row_stride_;
  long long column_stride_;
  int columns_log2_;
};

/// What takes the place of a batch's matrices (common/epilogue.cuh).
class TileTensors {
 public:
  template <class T>
  using View = TileView<T>;
  static constexpr bool has_short_ways = true;

  QUARRY_DEVICE TileTensors(const WindowTile& tile, int) : tile_(tile) {}

  template <class T>
  QUARRY_DEVICE View<T> of(const MatrixParams& tensor) const {
    return {tile_, tensor};
  }
  /// Vectors are for all groups.
  QUARRY_DEVICE static int batch() { return 0; }
  QUARRY_DEVICE bool has_whole_quads() const { return tile_.has_whole_quads; }

 private:
  const WindowTile& tile_;
};

/// The epilogue of these kernels: everything is chosen at run time. Columns are counted over all groups.
struct WindowChain {
  template <class Sum, class Out, EpilogueForm form>
  using For = StandardEpilogue<Sum, Out, form, TileTensors>;
};

/// Where a thread's quads of a plain tile go, from (row, column) of it on downwards.
template <class Epilogue>
struct PlainTileColumn {
  const Epilogue& epilogue;
  int row;
  int column;

  template <class Sum>
  QUARRY_DEVICE void write(int rows_below, const Quad<Sum>& sum) const {
    arch::global_store(epilogue.place(row + rows_below, column), epilogue.plain_outputs(sum));
  }
};

/// Takes the sums of one tile, a quad at a time; as TileWriter, for K in one piece.
template <class Compute, class Epilogue>
class WindowWriter {
 public:
  using Finish = Epilogue;
  static constexpr bool has_short_ways = true;

  /// @param sums_of the tile that sums are of
  /// @param first_column of the tile in the group
  QUARRY_DEVICE WindowWriter(const WindowConv2dParams& params, const WindowTile& tile, Tile sums_of,
                             int group, int first_column)
      : epilogue_(tile, 0),
        first_column_(group * params.n + first_column),
        rows_(least(params.patches.rows, params.windows.rows.places.size - tile.origin.row)),
        lines_(least(params.patches.columns, params.windows.columns.places.size - tile.origin.column)),
        columns_(least(sums_of.n, params.n - first_column)),
        columns_log2_(tile.columns_log2),
        is_whole_(rows_ << columns_log2_ == sums_of.m && lines_ == 1 << columns_log2_ &&
                  columns_ == sums_of.n) {}

  QUARRY_DEVICE void begin() const {}
  QUARRY_DEVICE void end() const {}

  QUARRY_DEVICE bool is_plain() const { return is_whole_ && epilogue_.is_plain(); }
  QUARRY_DEVICE PlainTileColumn<Epilogue> plain_column(int row, int column) const {
    return {epilogue_, row, first_column_ + column};
  }
  QUARRY_DEVICE RegularColumn<Epilogue> regular_column(int column, bool is_plain) const {
    return {epilogue_, !is_plain && is_whole_ && epilogue_.is_regular(), 0, first_column_ + column};
  }

  QUARRY_DEVICE void write(int row, int column, const Quad<Compute>& sum) const {
    const int down = row >> columns_log2_;
    const int across = row & ((1 << columns_log2_) - 1);
    const int columns_left = columns_ - column;
    if (down >= rows_ || across >= lines_ || columns_left <= 0) return;
    finish(epilogue_, row, first_column_ + column, least(columns_left, 4), sum);
  }

 private:
  QUARRY_DEVICE static int least(int a, int b) { return a < b ? a : b; }

  Epilogue epilogue_;
  int first_column_;
  int rows_;   ///< lines of the tile that exist
  int lines_;  ///< outputs of a line
  int columns_;
  int columns_log2_;
  bool is_whole_;  ///< whether all sums have outputs
};

}  // namespace quarry::conv2d_sm80
