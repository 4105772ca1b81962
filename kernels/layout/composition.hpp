/// One layout after another.
#pragma once

#include "layout/coalesce.hpp"

namespace quarry::layout {

/// What finds the modes of a composition.
///
/// Indices add up, and so do the offsets they lead to as long as no coordinate passes the end of its leaf and
/// carries into the next one. So a leaf of the right layout becomes one of as many steps as carry nothing,
/// then one of as many steps of that width, and so on.
class Composer {
 public:
  /// @param outer coalesced
  constexpr explicit Composer(const Layout& outer) : outer_(outer) {}

  /// Every stride-th of the outer layout's offsets, `extent` of them, all of which it has. Together with
  /// the digits of other calls they must not carry.
  constexpr Layout part(Leaf inner) {
    if (inner.extent == 1 || inner.stride == 0) return leaf(inner.extent, 0);
    int extent = inner.extent;
    int stride = inner.stride;
    Tuple result;
    for (;;) {
      const int steps = steps_before_carry(stride, extent);
      if (extent % steps != 0 || !walk(stride, steps)) return faulty(Fault::indivisible);
      result.add(steps, outer_(stride));
      extent /= steps;
      if (extent == 1) return result.layout();
      stride *= steps;
    }
  }

 private:
  /// The coordinates 0, stride, 2 stride, ... that carry nothing, `most` at most; two at least.
  constexpr int steps_before_carry(int stride, int most) const {
    for (int i = 0; i < outer_.leaves; ++i) {
      const int extent = outer_.leaf[i].extent;
      const int step = stride % extent;
      stride /= extent;
      if (step != 0 && (extent + step - 1) / step < most) most = (extent + step - 1) / step;
    }
    return most;
  }

  /// Notes how far the steps reach along each leaf; false if that is past its end.
  constexpr bool walk(int stride, int steps) {
    for (int i = 0; i < outer_.leaves; ++i) {
      const int extent = outer_.leaf[i].extent;
      reached_[i] += static_cast<long long>(stride % extent) * (steps - 1);
      stride /= extent;
      if (reached_[i] >= extent) return false;
    }
    return true;
  }

  Layout outer_;
  long long reached_[Layout::capacity] = {};
};

/// The layout with composition(outer, inner)(i) == outer(inner(i)) for each index i of `inner`, each leaf of
/// which is replaced by one or several. All offsets of `inner` must be indices of `outer`. Laws:
/// composition(l, compact(size(l))) is l, as a function; composition(compact(n), l) is l where cosize(l) <=
/// n; composition(a, composition(b, c)) and composition(composition(a, b), c) agree where all are there.
constexpr Layout composition(const Layout& outer, const Layout& inner) {
  if (!outer) return outer;
  if (!inner) return inner;
  if (cosize(inner) > size(outer)) return faulty(Fault::out_of_domain);
  Composer composer(coalesce(outer));
  Layout result;
  result.leaves = 0;
  for (int i = 0; i < inner.leaves; ++i) {
    const Layout part = composer.part(inner.leaf[i]);
    if (!part) return part;
    if (result.leaves + part.leaves > Layout::capacity) return faulty(Fault::too_many_leaves);
    // The leaves of a part are a tuple of their own, one level below the leaf's.
    int depth = inner.level[i];
    if (i + 1 < inner.leaves && inner.level[i + 1] > depth) depth = inner.level[i + 1];
    for (int j = 0; j < part.leaves; ++j) {
      result.leaf[result.leaves] = part.leaf[j];
      result.level[result.leaves] = static_cast<unsigned char>(j == 0 ? inner.level[i] : depth + 1);
      ++result.leaves;
    }
  }
  return result;
}

}  // namespace quarry::layout
