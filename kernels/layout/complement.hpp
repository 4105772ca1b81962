/// What a layout leaves out.
#pragma once

#include "layout/coalesce.hpp"

namespace quarry::layout {

/// The leaves of a coalesced layout in the order of their strides; `leaf[i]` is number `number[i]` of the
/// layout.
struct Sorted {
  int leaves = 0;
  Leaf leaf[Layout::capacity] = {};
  int number[Layout::capacity] = {};
};

constexpr Sorted sorted_by_stride(const Layout& l) {
  Sorted sorted;
  for (int i = 0; i < l.leaves; ++i) {
    int place = sorted.leaves++;
    for (; place > 0 && sorted.leaf[place - 1].stride > l.leaf[i].stride; --place) {
      sorted.leaf[place] = sorted.leaf[place - 1];
      sorted.number[place] = sorted.number[place - 1];
    }
    sorted.leaf[place] = l.leaf[i];
    sorted.number[place] = i;
  }
  return sorted;
}

/// The layout of the least offsets by which copies of `l` must be moved to cover 0 to `extent` - 1.
/// Laws: offsets of `l` plus offsets of complement(l, extent) are each number from 0 up to their count less
/// one, each once (apart from broadcast leaves of `l`, which do not count), and `extent` of them at least;
/// complement(l, extent) is coalesced and increasing. Fault `overlapping` where a leaf begins before another
/// one ends, or not at a multiple of it.
constexpr Layout complement(const Layout& l, int extent) {
  const Layout walked = filtered(l);
  if (!walked) return walked;
  if (extent < 0 || extent > Layout::limit) return faulty(Fault::too_large);
  const Sorted sorted = sorted_by_stride(walked);
  Tuple gaps;
  int covered = 1;  // offsets below it are
  for (int i = 0; i < sorted.leaves; ++i) {
    const Leaf leaf = sorted.leaf[i];
    if (leaf.extent == 1) continue;
    if (leaf.stride % covered != 0 || leaf.stride < covered) return faulty(Fault::overlapping);
    gaps.add(leaf.stride / covered, covered);
    if (static_cast<long long>(leaf.extent) * leaf.stride > Layout::limit) return faulty(Fault::too_large);
    covered = leaf.extent * leaf.stride;
  }
  gaps.add(extent / covered + (extent % covered != 0 || extent == 0), covered);
  return coalesce(gaps.layout());
}

}  // namespace quarry::layout
