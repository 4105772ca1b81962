/// The simplest form of a layout.
#pragma once

#include "layout/layout.hpp"

namespace quarry::layout {

/// The flat layout of the fewest leaves with the same offsets.
/// Laws: coalesce(l)(i) == l(i) for each index; no leaf has extent 1 unless it is the only one; no leaf goes
/// on where the one before it ends; layouts that are the same function of an index coalesce to the same
/// value.
constexpr Layout coalesce(const Layout& l) {
  if (!l) return l;
  Layout result;
  result.leaves = 0;
  for (int i = 0; i < l.leaves; ++i) {
    const Leaf leaf = l.leaf[i];
    if (leaf.extent == 1) continue;
    Leaf& last = result.leaf[result.leaves > 0 ? result.leaves - 1 : 0];
    // Strides may be beyond what an offset of the layout reaches, hence the wider product.
    if (result.leaves > 0 && static_cast<long long>(last.extent) * last.stride == leaf.stride) {
      last.extent *= leaf.extent;
    } else {
      result.level[result.leaves] = result.leaves > 0 ? 1 : 0;
      result.leaf[result.leaves++] = leaf;
    }
  }
  return result.leaves > 0 ? result : Layout();
}

/// The same without broadcast leaves (stride 0): other indices, each offset as often as the others lead
/// there.
constexpr Layout filtered(const Layout& l) {
  if (!l) return l;
  Tuple kept;
  for (int i = 0; i < l.leaves; ++i) {
    if (l.leaf[i].stride != 0) kept.add(l.leaf[i].extent, l.leaf[i].stride);
  }
  return coalesce(kept.layout());
}

}  // namespace quarry::layout
