/// Copies of a layout.
#pragma once

#include "layout/complement.hpp"
#include "layout/composition.hpp"

namespace quarry::layout {

/// Where copies of `block` can begin, so many at least: in the gaps of the block first, then behind it.
constexpr Layout places_for(const Layout& block, int copies) {
  const long long extent = static_cast<long long>(size(block)) * copies;
  if (extent > Layout::limit) return faulty(Fault::too_large);
  return complement(block, static_cast<int>(extent));
}

/// Where the copies begin whose numbers are the offsets of `copies`.
constexpr Layout copies_of(const Layout& block, const Layout& copies) {
  if (!copies) return copies;
  return composition(places_for(block, cosize(copies)), copies);
}

/// (block, copies): the block, and where its copies lie.
/// Laws: the first mode is `block`; no two copies share an offset where the block's are apart and the offsets
/// of `copies` too; where block and copies are compact, so is the product.
constexpr Layout logical_product(const Layout& block, const Layout& copies) {
  return nested(block, copies_of(block, copies));
}

/// ((block 0, copies 0), (block 1, copies 1), ...), or the parts exchanged; of modes that one of the two does
/// not have, the other's.
constexpr Layout product_by_mode(const Layout& block, const Layout& copies, bool copies_first) {
  const Layout all_copies = copies_of(block, copies);
  if (!all_copies) return all_copies;
  const Layout places = places_for(block, cosize(copies));
  const int modes = rank(block) > rank(copies) ? rank(block) : rank(copies);
  Tuple all;
  for (int i = 0; i < modes; ++i) {
    const Layout inner = i < rank(block) ? mode(block, i) : Layout();
    const Layout outer = i < rank(copies) ? composition(places, mode(copies, i)) : Layout();
    all.add(coalesce(copies_first ? nested(outer, inner) : nested(inner, outer)));
  }
  return all.layout();
}

/// Copies stand block by block: mode i counts the block's mode i, then the copies along it.
/// Law: blocked_product(b, c)(x + bx u, y + by v) == b(x, y) + c'(u, v), where c' is the second mode of
/// logical_product(b, c).
constexpr Layout blocked_product(const Layout& block, const Layout& copies) {
  return product_by_mode(block, copies, false);
}

/// Copies stand interleaved: mode i counts the copies along it, then the block's mode i.
constexpr Layout raked_product(const Layout& block, const Layout& copies) {
  return product_by_mode(block, copies, true);
}

}  // namespace quarry::layout
