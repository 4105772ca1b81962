/// Random layouts for property tests, and what their tests share.
#pragma once

#include <algorithm>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lab/problems/fresh_seed.hpp"
#include "layout/coordinate.hpp"
#include "layout/text.hpp"
#include "support/catch_compat.hpp"
#include "support/random_gemm.hpp"

namespace quarry::layout {

/// For the messages of assertions.
inline std::string text_of(const Layout& l) {
  std::string text;
  write(l, [&](char c) { text += c; });
  if (!l) text += " (fault " + std::to_string(static_cast<int>(l.fault)) + ")";
  return text;
}

inline std::ostream& operator<<(std::ostream& out, const Layout& l) { return out << text_of(l); }

}  // namespace quarry::layout

namespace quarry::test {

/// How many random layouts each law is tried on.
inline constexpr int layout_trials = 10'000;

/// How the strides of random layouts are.
enum class Strides {
  any,       ///< small numbers, 0 among them
  apart,     ///< no two indices have one offset: the leaves in any order, each past the one before, with gaps
  adjacent,  ///< the same without gaps: the offsets are 0 to size - 1
};

/// A random tree over these leaves.
inline layout::Layout random_tree(Random& random, const std::vector<layout::Leaf>& leaves) {
  if (leaves.size() == 1) return layout::leaf(leaves[0].extent, leaves[0].stride);
  layout::Tuple tuple;
  std::size_t first = 0;
  while (first < leaves.size()) {
    // A whole tuple must not be one member again: that would never end.
    const std::size_t most = leaves.size() - first - (first == 0);
    const std::size_t count = static_cast<std::size_t>(between(random, 1, static_cast<int>(most)));
    const auto from = leaves.begin() + static_cast<std::ptrdiff_t>(first);
    tuple.add(random_tree(random, {from, from + static_cast<std::ptrdiff_t>(count)}));
    first += count;
  }
  return tuple.layout();
}

/// Up to `most_leaves` leaves, nested at random; extents mostly powers of two, of a size up to a few
/// hundreds.
inline layout::Layout random_layout(Random& random, Strides strides, int most_leaves = 5) {
  constexpr int extents[] = {1, 2, 2, 2, 3, 4, 4, 5, 6, 8};
  constexpr int gaps[] = {1, 1, 1, 2, 3, 4};
  std::vector<layout::Leaf> leaves(static_cast<std::size_t>(between(random, 1, most_leaves)));
  int size = 1;
  for (layout::Leaf& leaf : leaves) {
    leaf.extent = size >= 256 ? 1 : one_of(random, extents);
    leaf.stride = between(random, 0, 12);
    size *= leaf.extent;
  }
  if (strides != Strides::any) {
    std::vector<layout::Leaf*> order;
    for (layout::Leaf& leaf : leaves) order.push_back(&leaf);
    std::shuffle(order.begin(), order.end(), random);
    int next = 1;
    for (layout::Leaf* leaf : order) {
      leaf->stride = next * (strides == Strides::apart ? one_of(random, gaps) : 1);
      next = leaf->stride * leaf->extent;
    }
  }
  return random_tree(random, leaves);
}

/// The offsets of all indices, in the order of the indices.
template <class AnyLayout>
std::vector<int> offsets(const AnyLayout& l, int size) {
  std::vector<int> all;
  for (int i = 0; i < size; ++i) all.push_back(l(i));
  return all;
}
inline std::vector<int> offsets(const layout::Layout& l) { return offsets(l, size(l)); }

/// A generator whose seed a failed assertion prints.
#define QUARRY_SEEDED(random)                      \
  const unsigned seed = quarry::lab::fresh_seed(); \
  INFO("seed " << seed);                           \
  quarry::test::Random random(seed)

}  // namespace quarry::test
