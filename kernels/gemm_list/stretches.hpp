/// Where the tiles of a list's problems end, as the host counted them. Plain constexpr C++, shared by host
/// and device.
#pragma once

namespace quarry {

/// So many that the parameters stay small, and that up to 2,048 problems leave a stretch no longer than a
/// warp reads at once.
inline constexpr int list_stretches = 64;

/// A list cut into stretches of as many problems each; the last ones may be shorter, or have none. A block
/// finds the stretch of a tile here, and reads the sizes of no problem before it.
struct ListStretches {
  /// Of each stretch; 0: the host counted nothing, and a block walks over all problems.
  int problems;
  /// Tiles of a stretch's problems and of all before it.
  long long ends[list_stretches];
};

/// The stretch that a tile is of; list_stretches: it is behind the last.
constexpr int stretch_of(const ListStretches& list, long long tile) {
  int first = 0;
  int last = list_stretches;
  while (first < last) {
    const int middle = (first + last) / 2;
    if (tile < list.ends[middle]) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

}  // namespace quarry
