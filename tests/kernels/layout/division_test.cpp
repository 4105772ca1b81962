/// Divisions and products of layouts against index enumeration.
#include "layout/divide.hpp"
#include "layout/product.hpp"
#include "support/random_layout.hpp"

namespace quarry::layout {
namespace {

using namespace test;

static_assert(logical_divide(compact(24), leaf(4, 2)) == nested(leaf(4, 2), nested(leaf(2, 1), leaf(3, 8))));
static_assert(zipped_divide(compact(8, 6), Tiler::of(4, 2)) ==
              nested(nested(leaf(4, 1), leaf(2, 8)), nested(leaf(2, 4), leaf(3, 16))));
static_assert(tiled_divide(compact(8, 6), Tiler::of(4, 2)) ==
              nested(nested(leaf(4, 1), leaf(2, 8)), leaf(2, 4), leaf(3, 16)));
static_assert(logical_divide(compact(8, 6), Tiler::of(4)) == nested(compact(4, 2), leaf(6, 8)));
static_assert(logical_product(compact(4), leaf(3, 1)) == compact(4, 3));
static_assert(blocked_product(compact(2, 4), compact(3, 5)) ==
              nested(nested(leaf(2, 1), leaf(3, 8)), nested(leaf(4, 2), leaf(5, 24))));
static_assert(raked_product(compact(2, 4), compact(3, 5)) ==
              nested(nested(leaf(3, 8), leaf(2, 1)), nested(leaf(5, 24), leaf(4, 2))));

std::vector<int> sorted(std::vector<int> values) {
  std::sort(values.begin(), values.end());
  return values;
}

/// A layout that takes its indices to a part of 0 to `domain` - 1, each to another.
Layout random_tiler(Random& random, int domain) {
  for (;;) {
    const Layout l = random_layout(random, Strides::apart, 2);
    if (size(l) <= domain && domain % size(l) == 0 && cosize(l) <= domain) return l;
  }
}

TEST_CASE("division cuts a layout into tiles") {
  QUARRY_SEEDED(random);
  int divided = 0;
  while (divided < layout_trials) {
    const Layout l = random_layout(random, Strides::any);
    const Layout tiler = random_tiler(random, size(l));
    INFO(l << " / " << tiler);
    const Layout result = logical_divide(l, tiler);
    INFO(result);
    if (!result) {
      // The tiles do not go evenly into the indices, or not into the leaves.
      const Layout both = nested(tiler, complement(tiler, size(l)));
      REQUIRE(result.fault == (cosize(both) > size(l) ? Fault::out_of_domain : Fault::indivisible));
      REQUIRE(!composition(l, both));
      continue;
    }
    ++divided;
    REQUIRE(size(result) == size(l));
    for (int i = 0; i < size(tiler); ++i) REQUIRE(result(i, 0) == l(tiler(i)));
    const Layout starts = complement(tiler, size(l));
    for (int i = 0; i < size(starts); ++i) REQUIRE(result(0, i) == l(starts(i)));
    REQUIRE(sorted(offsets(result)) == sorted(offsets(l)));
    for (int i = 0; i < size(tiler); ++i) {
      for (int j = 0; j < size(starts); ++j) REQUIRE(result(i, j) == l(tiler(i) + starts(j)));
    }
  }
}

TEST_CASE("division by mode, zipped and tiled") {
  QUARRY_SEEDED(random);
  int divided = 0;
  while (divided < layout_trials) {
    const Layout a = random_layout(random, Strides::any, 2);
    const Layout b = random_layout(random, Strides::any, 2);
    const Layout c = random_layout(random, Strides::any, 2);
    const Layout tile_a = random_tiler(random, size(a));
    const Layout tile_b = random_tiler(random, size(b));
    const Layout l = nested(a, b, c);
    const Tiler tiler = Tiler::of(tile_a, tile_b);
    INFO(l << " / <" << tile_a << "; " << tile_b << ">");
    const Layout logical = logical_divide(l, tiler);
    const Layout zipped = zipped_divide(l, tiler);
    const Layout tiled = tiled_divide(l, tiler);
    REQUIRE(logical.fault == zipped.fault);
    REQUIRE(logical.fault == tiled.fault);
    const Layout rest_a = complement(tile_a, size(a));
    const Layout rest_b = complement(tile_b, size(b));
    if (!logical) {
      if (logical.fault == Fault::too_many_leaves) continue;
      REQUIRE((!logical_divide(a, tile_a) || !logical_divide(b, tile_b)));
      continue;
    }
    ++divided;
    REQUIRE(rank(logical) == 3);
    REQUIRE(rank(zipped) == 2);
    REQUIRE(rank(tiled) == 4);
    for (int repeat = 0; repeat < 16; ++repeat) {
      const int ta = between(random, 0, size(tile_a) - 1);
      const int tb = between(random, 0, size(tile_b) - 1);
      const int ra = between(random, 0, size(rest_a) - 1);
      const int rb = between(random, 0, size(rest_b) - 1);
      const int k = between(random, 0, size(c) - 1);
      const int expected = l(tile_a(ta) + rest_a(ra), tile_b(tb) + rest_b(rb), k);
      REQUIRE(logical(ta + size(tile_a) * ra, tb + size(tile_b) * rb, k) == expected);
      const int tile = ta + size(tile_a) * tb;
      REQUIRE(zipped(tile, ra + size(rest_a) * (rb + size(rest_b) * k)) == expected);
      REQUIRE(tiled(tile, ra, rb, k) == expected);
    }
  }
}

TEST_CASE("divisions that cannot be") {
  CHECK(logical_divide(compact(10), leaf(4, 1)).fault == Fault::out_of_domain);
  CHECK(logical_divide(compact(10), leaf(20, 1)).fault == Fault::out_of_domain);
  CHECK(logical_divide(compact(8), nested(leaf(2, 1), leaf(2, 1))).fault == Fault::overlapping);
  CHECK(logical_divide(leaf(0, 1), leaf(4, 1)).fault == Fault::bad_leaf);
  CHECK(logical_divide(compact(8), leaf(0, 1)).fault == Fault::bad_leaf);
  const Tiler three = Tiler::of(2, 2, 2);
  CHECK(logical_divide(compact(4, 4), three).fault == Fault::no_such_mode);
  CHECK(zipped_divide(compact(4, 4), three).fault == Fault::no_such_mode);
  CHECK(tiled_divide(compact(4, 4), three).fault == Fault::no_such_mode);
  CHECK(zipped_divide(compact(4, 4), Tiler::of(2, 3)).fault == Fault::out_of_domain);
  CHECK(zipped_divide(leaf(0, 1), Tiler::of(2)).fault == Fault::bad_leaf);
  CHECK(zipped_divide(compact(2, 2, 2, 2, 2), Tiler{5, {}}).fault == Fault::no_such_mode);
  CHECK(zipped_divide(compact(2, 2), Tiler{-1, {}}).fault == Fault::no_such_mode);
}

TEST_CASE("products are copies apart from each other") {
  QUARRY_SEEDED(random);
  int made = 0;
  for (int trial = 0; made < layout_trials; ++trial) {
    const Layout block = random_layout(random, Strides::apart, 3);
    const Layout copies = random_layout(random, trial % 2 == 0 ? Strides::apart : Strides::adjacent, 3);
    INFO(block << " x " << copies);
    const Layout result = logical_product(block, copies);
    INFO(result);
    if (!result) {
      // Copies that fill the gaps of the block must divide them.
      REQUIRE(result.fault == Fault::indivisible);
      continue;
    }
    ++made;
    const Layout places = complement(block, size(block) * cosize(copies));
    for (int i = 0; i < size(block); ++i) REQUIRE(result(i, 0) == block(i));
    for (int i = 0; i < size(copies); ++i) REQUIRE(result(0, i) == places(copies(i)));
    const std::vector<int> all = offsets(result);
    REQUIRE(std::set(all.begin(), all.end()).size() == all.size());
    if (cosize(block) == size(block) && cosize(copies) == size(copies)) {
      REQUIRE(cosize(result) == size(result));
    }
  }
}

TEST_CASE("blocked and raked products") {
  QUARRY_SEEDED(random);
  int made = 0;
  while (made < layout_trials) {
    const Layout a = random_layout(random, Strides::apart, 2);
    const Layout block = nested(a, leaf(between(random, 1, 4), cosize(a)));
    const Layout copies = compact(between(random, 1, 4), between(random, 1, 4));
    INFO(block << " x " << copies);
    const Layout product = logical_product(block, copies);
    const Layout blocked = blocked_product(block, copies);
    const Layout raked = raked_product(block, copies);
    INFO(blocked << " and " << raked);
    REQUIRE(product.fault == blocked.fault);
    REQUIRE(product.fault == raked.fault);
    if (!product) continue;
    ++made;
    const int bx = size(mode(block, 0));
    const int by = size(mode(block, 1));
    const int cx = size(mode(copies, 0));
    const int cy = size(mode(copies, 1));
    for (int x = 0; x < bx; ++x) {
      for (int y = 0; y < by; ++y) {
        for (int u = 0; u < cx; ++u) {
          for (int v = 0; v < cy; ++v) {
            const int expected = block(x, y) + mode(product, 1)(u, v);
            REQUIRE(blocked(x + bx * u, y + by * v) == expected);
            REQUIRE(raked(u + cx * x, v + cy * y) == expected);
          }
        }
      }
    }
  }
  // A mode that one of the two does not have is the other's.
  CHECK(blocked_product(compact(2, 4), leaf(3, 1)) == nested(nested(leaf(2, 1), leaf(3, 8)), leaf(4, 2)));
  CHECK(blocked_product(leaf(4, 1), compact(2, 3)) == nested(leaf(8, 1), leaf(3, 8)));
}

TEST_CASE("products that cannot be") {
  CHECK(logical_product(leaf(0, 1), compact(4)).fault == Fault::bad_leaf);
  CHECK(logical_product(compact(4), leaf(0, 1)).fault == Fault::bad_leaf);
  CHECK(blocked_product(compact(4), leaf(0, 1)).fault == Fault::bad_leaf);
  CHECK(raked_product(leaf(0, 1), compact(4)).fault == Fault::bad_leaf);
  CHECK(logical_product(compact(1 << 20), compact(1 << 20)).fault == Fault::too_large);
  CHECK(blocked_product(compact(1 << 20), compact(1 << 20)).fault == Fault::too_large);
  CHECK(logical_product(nested(leaf(4, 1), leaf(4, 1)), compact(4)).fault == Fault::overlapping);
}

}  // namespace
}  // namespace quarry::layout
