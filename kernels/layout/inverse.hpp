/// Layouts from offsets back to indices.
#pragma once

#include "layout/complement.hpp"

namespace quarry::layout {

/// A layout r with l(r(i)) == i for each index i of it, as far as the leaves of `l` lie without gaps from 0
/// on. Laws: that; size(r) == size(l) where `l` takes its indices to 0 to size - 1, each once.
constexpr Layout right_inverse(const Layout& l) {
  const Layout walked = coalesce(l);
  if (!walked) return walked;
  const Sorted sorted = sorted_by_stride(walked);
  Tuple indices;
  int reached = 1;
  for (int i = 0; i < sorted.leaves; ++i) {
    const Leaf leaf = sorted.leaf[i];
    if (leaf.stride < reached) continue;
    if (leaf.stride > reached) break;
    int stride = 1;  // between the indices of the leaf
    for (int before = 0; before < sorted.number[i]; ++before) stride *= walked.leaf[before].extent;
    indices.add(leaf.extent, stride);
    reached *= leaf.extent;
  }
  return coalesce(indices.layout());
}

/// The layout r with r(l(i)) == i for each index i of `l`, whose offsets must be apart. Offsets that `l`
/// leaves out lead to indices beyond its size. Fault `overlapping` as complement's, and where `l` has a
/// broadcast leaf.
constexpr Layout left_inverse(const Layout& l) {
  const Layout walked = coalesce(l);
  if (size(filtered(walked)) != size(walked)) return faulty(Fault::overlapping);
  return right_inverse(nested(walked, complement(walked, 1)));
}

}  // namespace quarry::layout
