/// Layouts as values: building them, indices and coordinates, their text, and invalid ones.
#include "layout/fixed.hpp"
#include "layout/layout.hpp"
#include "support/random_layout.hpp"

namespace quarry::layout {
namespace {

using namespace test;

constexpr Layout nested_example = nested(nested(leaf(2, 1), leaf(4, 8)), leaf(4, 16));
static_assert(size(nested_example) == 32 && cosize(nested_example) == 1 + 1 + 24 + 48 + 0 * 16);
static_assert(rank(nested_example) == 2 && mode(nested_example, 0) == nested(leaf(2, 1), leaf(4, 8)));
static_assert(nested_example(3) == 9 && nested_example(3, 2) == 9 + 32);
static_assert(compact(3, 5)(14) == 14 && compact(7) == leaf(7, 1));

/// A layout is a structural value.
template <Layout l>
struct Sized {
  static constexpr int value = size(l);
};
static_assert(Sized<compact(3, 5)>::value == 15);

/// The offset of an index, leaf by leaf, from the definition.
int offset_by_hand(const Layout& l, int index) {
  int offset = 0;
  for (int i = 0; i < l.leaves; ++i) {
    offset += index % l.leaf[i].extent * l.leaf[i].stride;
    index /= l.leaf[i].extent;
  }
  return offset;
}

TEST_CASE("indices, coordinates and offsets of layouts agree") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout l = random_layout(random, Strides::any);
    INFO(l);
    int greatest = 0;
    for (int i = 0; i < size(l); ++i) {
      const Coordinate c = coordinate(l, i);
      REQUIRE(contains(l, c));
      REQUIRE(index(l, c) == i);
      REQUIRE(l(i) == offset_by_hand(l, i));
      REQUIRE(offset(l, c) == l(i));
      greatest = std::max(greatest, l(i));
    }
    REQUIRE(cosize(l) == greatest + 1);
    REQUIRE(l(size(l)) == l(0));
    REQUIRE(coordinate(l, size(l)) == coordinate(l, 0));
  }
}

TEST_CASE("a layout is made of its modes") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout a = random_layout(random, Strides::any);
    const Layout b = random_layout(random, Strides::any);
    const Layout c = random_layout(random, Strides::any);
    INFO(a << " " << b << " " << c);
    const Layout all = nested(a, b, c);
    if (1LL * size(a) * size(b) * size(c) > Layout::limit) {
      REQUIRE(all.fault == Fault::too_large);
      continue;
    }
    REQUIRE(all);
    REQUIRE(rank(all) == 3);
    REQUIRE(mode(all, 0) == a);
    REQUIRE(mode(all, 1) == b);
    REQUIRE(mode(all, 2) == c);
    REQUIRE(nested(all) == all);
    REQUIRE(size(all) == size(a) * size(b) * size(c));
    REQUIRE(cosize(all) == cosize(a) + cosize(b) + cosize(c) - 2);
    for (int repeat = 0; repeat < 8; ++repeat) {
      const int i = between(random, 0, size(a) - 1);
      const int j = between(random, 0, size(b) - 1);
      const int k = between(random, 0, size(c) - 1);
      REQUIRE(all(i, j, k) == a(i) + b(j) + c(k));
      REQUIRE(all(i, j) == a(i) + b(j));
      REQUIRE(all(i + size(a) * (j + size(b) * k)) == all(i, j, k));
    }
    REQUIRE(rank(flat(all)) == all.leaves);
    REQUIRE(offsets(flat(all), 100) == offsets(all, 100));
    REQUIRE((flat(all) == all) == (a.leaves + b.leaves + c.leaves == 3));
  }
}

template <Layout l>
void check_fixed() {
  INFO(l);
  constexpr Fixed<l> fixed;
  for (int i = 0; i < size(l); ++i) REQUIRE(fixed(i) == l(i));
  if constexpr (rank(l) > 1) {
    for (int i = 0; i < size(mode(l, 0)); ++i) {
      for (int j = 0; j < size(mode(l, 1)); ++j) {
        REQUIRE(fixed(i, j) == l(i, j));
        if constexpr (rank(l) > 2)
          REQUIRE(fixed(i, j, size(mode(l, 2)) - 1) == l(i, j, size(mode(l, 2)) - 1));
      }
    }
  }
}

TEST_CASE("layouts that are constants are the same functions") {
  static_assert(Fixed<nested_example>()(3, 2) == 9 + 32);
  check_fixed<Layout{}>();
  check_fixed<leaf(7, 3)>();
  check_fixed<compact(3, 5)>();
  check_fixed<nested_example>();
  check_fixed<nested(nested_example, leaf(3, 0), nested_example)>();
  check_fixed<nested(leaf(5, 7), nested(leaf(2, 1), nested(leaf(3, 10), leaf(1, 9))), leaf(4, 4))>();
}

TEST_CASE("layouts as text") {
  CHECK(text_of(Layout()) == "1:0");
  CHECK(text_of(leaf(1024, 12)) == "1024:12");
  CHECK(text_of(compact(4, 5, 6)) == "(4,5,6):(1,4,20)");
  CHECK(text_of(nested_example) == "((2,4),4):((1,8),16)");
  const Layout pair = compact(2, 3);
  CHECK(text_of(nested(leaf(9, 0), nested(pair, nested(leaf(7, 1), pair)), pair)) ==
        "(9,((2,3),(7,(2,3))),(2,3)):(0,((1,2),(1,(1,2))),(1,2))");
  std::string swizzle;
  write(Swizzle{3, 4, -3}, [&](char c) { swizzle += c; });
  CHECK(swizzle == "Swizzle<3,4,-3>");
}

TEST_CASE("the text of a layout says all of it") {
  QUARRY_SEEDED(random);
  std::vector<std::pair<std::string, Layout>> seen;
  for (int trial = 0; trial < 300; ++trial) {
    const Layout l = random_layout(random, Strides::any, 3);
    for (const auto& [text, other] : seen) REQUIRE((text == text_of(l)) == (other == l));
    seen.emplace_back(text_of(l), l);
  }
}

TEST_CASE("what is no layout is a value that operations hand on") {
  CHECK(leaf(0, 1).fault == Fault::bad_leaf);
  CHECK(leaf(-4, 1).fault == Fault::bad_leaf);
  CHECK(leaf(4, -1).fault == Fault::bad_leaf);
  CHECK(leaf(2, Layout::limit).fault == Fault::too_large);
  CHECK(leaf(2, 2147483647).fault == Fault::too_large);
  CHECK(leaf(2147483647, 2147483647).fault == Fault::too_large);
  CHECK(leaf(2147483647, 0).fault == Fault::too_large);
  CHECK(leaf(1, 2147483647));
  CHECK(leaf(Layout::limit, 0));
  CHECK(compact(1 << 20, 1 << 20).fault == Fault::too_large);
  CHECK(compact(1 << 20, 1 << 20, 1 << 20, 1 << 20).fault == Fault::too_large);
  CHECK(compact(4, -4).fault == Fault::bad_leaf);
  CHECK(nested(leaf(1 << 20, 0), leaf(1 << 11, 0)).fault == Fault::too_large);
  CHECK(nested(leaf(2, 0), leaf(0, 0), leaf(-1, 1 << 30)).fault == Fault::bad_leaf);
  const Layout eight = nested(compact(1, 1, 1, 1), compact(1, 1, 1, 1));
  CHECK(nested(eight, eight));
  CHECK(nested(eight, eight, leaf(1, 0)).fault == Fault::too_many_leaves);
  CHECK(mode(compact(2, 3), 2).fault == Fault::no_such_mode);
  CHECK(mode(compact(2, 3), -1).fault == Fault::no_such_mode);
  CHECK(mode(leaf(2, 1), 0) == leaf(2, 1));
  CHECK(mode(leaf(0, 1), 0).fault == Fault::bad_leaf);

  const Layout none = faulty(Fault::bad_leaf);
  CHECK(!none);
  CHECK(none(17) == 0);
  CHECK(size(none) == 1);

  const Layout l = compact(2, 3);
  Coordinate outside = coordinate(l, 0);
  outside.of[1] = 3;
  CHECK(index(l, outside) == -1);
  CHECK(offset(l, outside) == -1);
  outside.of[1] = -1;
  CHECK(index(l, outside) == -1);
  CHECK(index(l, Coordinate()) == -1);
  CHECK(offset(l, coordinate(compact(2, 3, 4), 0)) == -1);
}

}  // namespace
}  // namespace quarry::layout
