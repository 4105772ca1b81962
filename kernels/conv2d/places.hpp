/// Where the elements of a convolution's matrices lie in its tensors. Plain constexpr C++, shared by host and
/// device.
///
/// Per group, with (n, p, q) the places of windows, (r, s) the taps, c and k the group's channels of
/// activations and of filters:
///
///     direction   rows of the output   columns     K           A              B
///     fprop       (n, p, q)            k           (r, s, c)   x, windows     w
///     dgrad       (n, h, w)            c           (r, s, k)   grad y, turned windows   w
///     wgrad       k                    (r, s, c)   (n, p, q)   grad y         x, windows
///
/// An element's place is a sum of what its two indices say of it.
#pragma once

#include "common/interleaved.hpp"
#include "conv2d/params.hpp"

namespace quarry {

/// One index's share: elements of memory, and the row and column of the image that a window looks at.
struct PlacePart {
  long long offset;
  int row;
  int column;
};

/// What no element has.
inline constexpr long long no_place = -1;

/// An index as three, the last of which runs fastest.
struct Index3 {
  int outer;
  int middle;
  int inner;
};
constexpr Index3 index3(int index, const Divisor& middle, const Divisor& inner) {
  const Divided last = divide(index, inner);
  const Divided rest = divide(last.quotient, middle);
  return {rest.quotient, rest.rest, last.rest};
}

/// (image, row, column) of a window's place; (row, column, channel) of a tap.
constexpr Index3 place_index(const Windows& w, int index) {
  return index3(index, w.rows.places, w.columns.places);
}
constexpr Index3 tap_index(const Windows& w, int index) { return index3(index, w.columns.taps, w.channels); }

/// How far from a window's begin a tap looks.
constexpr int tap_distance(const WindowAxis& axis, int tap, bool flips) {
  return (flips ? axis.taps.size - 1 - tap : tap) * axis.dilation;
}

/// The windows of an image: fprop's A, wgrad's B.
struct ImageWindows {
  static constexpr PlacePart of_place(const Windows& w, const MatrixParams& image, int index) {
    const Index3 at = place_index(w, index);
    return {at.outer * image.batch_stride, at.middle * w.rows.stride.size - w.rows.padding,
            at.inner * w.columns.stride.size - w.columns.padding};
  }
  static constexpr PlacePart of_tap(const Windows& w, const Index3& at) {
    return {at.inner, tap_distance(w.rows, at.outer, w.flips), tap_distance(w.columns, at.middle, w.flips)};
  }
  static constexpr PlacePart of_tap(const Windows& w, int index) { return of_tap(w, tap_index(w, index)); }
  static constexpr long long place(const Windows& w, const MatrixParams& image, const PlacePart& one,
                                   const PlacePart& other) {
    const int row = one.row + other.row;
    const int column = one.column + other.column;
    if (row < 0 || row >= w.rows.extent || column < 0 || column >= w.columns.extent) return no_place;
    return one.offset + other.offset + row * image.row_stride + column * image.column_stride;
  }
};

/// Those outputs of a window's taps that an element of the image has a part in: dgrad's A.
struct TurnedWindows {
  static constexpr PlacePart of_place(const Windows& w, const MatrixParams& output, int index) {
    const Index3 at = place_index(w, index);
    return {at.outer * output.batch_stride, at.middle + w.rows.padding, at.inner + w.columns.padding};
  }
  static constexpr PlacePart of_tap(const Windows& w, const Index3& at) {
    return {at.inner, -tap_distance(w.rows, at.outer, w.flips), -tap_distance(w.columns, at.middle, w.flips)};
  }
  static constexpr long long place(const Windows& w, const MatrixParams& output, const PlacePart& one,
                                   const PlacePart& other) {
    const int row = one.row + other.row;
    const int column = one.column + other.column;
    if (row < 0 || column < 0) return no_place;
    const Divided y = divide(row, w.rows.stride);
    const Divided x = divide(column, w.columns.stride);
    if (y.rest != 0 || x.rest != 0 || y.quotient >= w.rows.extent || x.quotient >= w.columns.extent)
      return no_place;
    return one.offset + other.offset + y.quotient * output.row_stride + x.quotient * output.column_stride;
  }
};

/// Elements whose place is the sum of offsets.
constexpr PlacePart at_offset(long long offset) { return {offset, 0, 0}; }
constexpr long long plain_place(const PlacePart& one, const PlacePart& other) {
  return one.offset + other.offset;
}

/// The offset of (outer, middle) in a tensor.
constexpr long long offset_of(const MatrixParams& m, int middle, int inner) {
  return middle * m.row_stride + inner * m.column_stride;
}

/// The matrices A and B of a direction: what an element's index along M or N says, what that along K says,
/// and where it lies, counted from the group's first element; no_place where it is 0. Of fprop and
/// dgrad, along_tap says the same of the tap and channel that an index along K is.
template <Direction direction>
struct MatrixA;
template <Direction direction>
struct MatrixB;

template <>
struct MatrixA<Direction::fprop> {
  static constexpr PlacePart along_extent(const Conv2dParams& p, int m) {
    return ImageWindows::of_place(p.windows, p.a, m);
  }
  static constexpr PlacePart along_tap(const Conv2dParams& p, const Index3& at) {
    return ImageWindows::of_tap(p.windows, at);
  }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    return along_tap(p, tap_index(p.windows, k));
  }
  static constexpr long long place(const Conv2dParams& p, const PlacePart& extent, const PlacePart& k) {
    return ImageWindows::place(p.windows, p.a, extent, k);
  }
};

template <>
struct MatrixB<Direction::fprop> {
  static constexpr PlacePart along_extent(const Conv2dParams& p, int n) {
    return at_offset(n * p.b.batch_stride);
  }
  static constexpr PlacePart along_tap(const Conv2dParams& p, const Index3& at) {
    return at_offset(offset_of(p.b, at.outer, at.middle) + at.inner);
  }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    return along_tap(p, tap_index(p.windows, k));
  }
  static constexpr long long place(const Conv2dParams&, const PlacePart& extent, const PlacePart& k) {
    return plain_place(extent, k);
  }
};

template <>
struct MatrixA<Direction::dgrad> {
  static constexpr PlacePart along_extent(const Conv2dParams& p, int m) {
    return TurnedWindows::of_place(p.windows, p.a, m);
  }
  static constexpr PlacePart along_tap(const Conv2dParams& p, const Index3& at) {
    return TurnedWindows::of_tap(p.windows, at);
  }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    return along_tap(p, tap_index(p.windows, k));
  }
  static constexpr long long place(const Conv2dParams& p, const PlacePart& extent, const PlacePart& k) {
    return TurnedWindows::place(p.windows, p.a, extent, k);
  }
};

template <>
struct MatrixB<Direction::dgrad> {
  static constexpr PlacePart along_extent(const Conv2dParams&, int n) { return at_offset(n); }
  static constexpr PlacePart along_tap(const Conv2dParams& p, const Index3& at) {
    return at_offset(offset_of(p.b, at.outer, at.middle) + at.inner * p.b.batch_stride);
  }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    return along_tap(p, tap_index(p.windows, k));
  }
  static constexpr long long place(const Conv2dParams&, const PlacePart& extent, const PlacePart& k) {
    return plain_place(extent, k);
  }
};

template <>
struct MatrixA<Direction::wgrad> {
  static constexpr PlacePart along_extent(const Conv2dParams&, int m) { return at_offset(m); }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    const Index3 at = place_index(p.windows, k);
    return at_offset(at.outer * p.a.batch_stride + offset_of(p.a, at.middle, at.inner));
  }
  static constexpr long long place(const Conv2dParams&, const PlacePart& extent, const PlacePart& k) {
    return plain_place(extent, k);
  }
};

template <>
struct MatrixB<Direction::wgrad> {
  static constexpr PlacePart along_extent(const Conv2dParams& p, int n) {
    return ImageWindows::of_tap(p.windows, n);
  }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    return ImageWindows::of_place(p.windows, p.b, k);
  }
  static constexpr long long place(const Conv2dParams& p, const PlacePart& extent, const PlacePart& k) {
    return ImageWindows::place(p.windows, p.b, k, extent);
  }
};

/// Elements from one group of 32 channels to the next in tensors where these follow one another: images
/// (N, C/32, H, W, 32) and filters (C/32, R, S, K, 32). @param rows of an image or a filter
constexpr long long channel_group_stride(const MatrixParams& tensor, int rows) {
  return rows * tensor.row_stride;
}
constexpr long long channel_group_stride(const Conv2dParams& p, MatrixA<Direction::fprop>) {
  return channel_group_stride(p.a, p.windows.rows.extent);
}
constexpr long long channel_group_stride(const Conv2dParams& p, MatrixB<Direction::fprop>) {
  return channel_group_stride(p.b, p.windows.rows.taps.size);
}

/// MatrixA or MatrixB of an fprop whose tensors have channels in groups of 32.
template <class Matrix>
struct InterleavedTaps : Matrix {
  static constexpr PlacePart along_tap(const Conv2dParams& p, const Index3& at) {
    PlacePart part = Matrix::along_tap(p, {at.outer, at.middle, at.inner % interleave});
    part.offset += at.inner / interleave * channel_group_stride(p, Matrix{});
    return part;
  }
  static constexpr PlacePart along_k(const Conv2dParams& p, int k) {
    return along_tap(p, tap_index(p.windows, k));
  }
};

/// MatrixA and MatrixB of a kernel. @tparam interleaved the tensors have channels in groups of 32
template <Direction direction, bool interleaved>
struct Matrices {
  using A = MatrixA<direction>;
  using B = MatrixB<direction>;
};
template <Direction direction>
struct Matrices<direction, true> {
  using A = InterleavedTaps<MatrixA<direction>>;
  using B = InterleavedTaps<MatrixB<direction>>;
};

/// Row and column of a group's first output: its channels are columns, of wgrad its filters are rows.
constexpr int first_row(Direction direction, const GemmParams& p, int group) {
  return direction == Direction::wgrad ? group * p.m : 0;
}
constexpr int first_column(Direction direction, const GemmParams& p, int group) {
  return direction == Direction::wgrad ? 0 : group * p.n;
}

/// Where the output at (row, column), counted over all groups, lies in a tensor with the output's extents.
template <Direction direction, bool interleaved = false>
constexpr long long output_place(const Windows& w, const MatrixParams& tensor, int row, int column) {
  if (direction == Direction::wgrad) {
    const Index3 tap = tap_index(w, column);
    return row * tensor.batch_stride + offset_of(tensor, tap.outer, tap.middle) + tap.inner;
  }
  const Index3 at = place_index(w, row);
  const long long pixel = at.outer * tensor.batch_stride + offset_of(tensor, at.middle, at.inner);
  if constexpr (interleaved)
    return pixel + distance<true>(column, channel_group_stride(tensor, w.rows.places.size));
  return pixel + column;
}

}  // namespace quarry
