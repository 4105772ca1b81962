/// Coordinates of a layout's leaves, and the index that counts them.
#pragma once

#include "layout/layout.hpp"

namespace quarry::layout {

/// A number for each leaf of a layout, in the leaves' order.
struct Coordinate {
  int leaves = 0;
  int of[Layout::capacity] = {};
  friend constexpr bool operator==(const Coordinate&, const Coordinate&) = default;
};

/// The coordinate that an index counts; indices outside 0 to size - 1 wrap around.
constexpr Coordinate coordinate(const Layout& l, int index) {
  Coordinate c;
  c.leaves = l.leaves;
  unsigned rest = static_cast<unsigned>(index);
  for (int i = 0; i < l.leaves; ++i) {
    const auto extent = static_cast<unsigned>(l.leaf[i].extent);
    c.of[i] = static_cast<int>(rest % extent);
    rest /= extent;
  }
  return c;
}

/// Whether the coordinate is one of the layout's.
constexpr bool contains(const Layout& l, const Coordinate& c) {
  if (c.leaves != l.leaves) return false;
  for (int i = 0; i < l.leaves; ++i) {
    if (c.of[i] < 0 || c.of[i] >= l.leaf[i].extent) return false;
  }
  return true;
}

/// The index of a coordinate, -1 if it is not one of the layout's. Law: index(l, coordinate(l, i)) == i for
/// each i from 0 to size - 1.
constexpr int index(const Layout& l, const Coordinate& c) {
  if (!contains(l, c)) return -1;
  int result = 0;
  for (int i = l.leaves - 1; i >= 0; --i) result = result * l.leaf[i].extent + c.of[i];
  return result;
}

/// The offset of a coordinate, -1 if it is not one of the layout's. Law: offset(l, coordinate(l, i)) == l(i).
constexpr int offset(const Layout& l, const Coordinate& c) {
  if (!contains(l, c)) return -1;
  int result = 0;
  for (int i = 0; i < l.leaves; ++i) result += c.of[i] * l.leaf[i].stride;
  return result;
}

}  // namespace quarry::layout
