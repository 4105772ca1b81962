/// Complements and inverses of layouts against index enumeration.
#include "layout/inverse.hpp"

#include "support/random_layout.hpp"

namespace quarry::layout {
namespace {

using namespace test;

static_assert(complement(nested(leaf(2, 1), leaf(3, 6)), 36) == nested(leaf(3, 2), leaf(2, 18)));
static_assert(right_inverse(nested(leaf(4, 8), leaf(8, 1))) == nested(leaf(8, 4), leaf(4, 1)));
static_assert(left_inverse(leaf(4, 2)) == nested(leaf(2, 4), leaf(4, 1)));

TEST_CASE("a layout and its complement cover all offsets once") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    Layout l = random_layout(random, Strides::apart);
    if (coin(random)) l = nested(l, leaf(between(random, 1, 4), 0));  // repetitions do not count
    const int extent = between(random, 0, 3 * cosize(l));
    INFO(l << " to " << extent);
    const Layout rest = complement(l, extent);
    INFO(rest);
    REQUIRE(rest);
    REQUIRE(coalesce(rest) == rest);
    for (int i = 1; i < size(rest); ++i) REQUIRE(rest(i) > rest(i - 1));
    const std::vector<int> once = offsets(filtered(l));
    std::vector<int> covered;
    for (const int start : offsets(rest)) {
      for (const int offset : once) covered.push_back(start + offset);
    }
    std::sort(covered.begin(), covered.end());
    REQUIRE(static_cast<int>(covered.size()) >= extent);
    for (std::size_t i = 0; i < covered.size(); ++i) REQUIRE(covered[i] == static_cast<int>(i));
    // No more than is needed: without the last copies of all, the extent would not be covered.
    const Leaf last = rest.leaf[rest.leaves - 1];
    const bool added = last.extent > 1 && last.stride >= cosize(l);
    if (added) REQUIRE((last.extent - 1) * last.stride < extent);
  }
}

TEST_CASE("a complement is there or faulty") {
  QUARRY_SEEDED(random);
  int there = 0;
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout l = random_layout(random, Strides::any, 3);
    INFO(l);
    const Layout rest = complement(l, cosize(l));
    if (rest) {
      ++there;
      std::set<int> covered;
      const Layout once = filtered(l);
      for (const int start : offsets(rest)) {
        for (const int offset : offsets(once)) REQUIRE(covered.insert(start + offset).second);
      }
      REQUIRE(*covered.rbegin() + 1 == static_cast<int>(covered.size()));
      continue;
    }
    REQUIRE(rest.fault == Fault::overlapping);
    const Layout once = filtered(l);
    bool overlapping = false;
    for (int i = 0; i < once.leaves; ++i) {
      for (int j = 0; j < once.leaves; ++j) {
        const Leaf a = once.leaf[i];
        const Leaf b = once.leaf[j];
        overlapping |= i != j && a.stride <= b.stride && b.stride % (a.extent * a.stride) != 0;
      }
    }
    REQUIRE(overlapping);
  }
  CHECK(there > 100);
}

TEST_CASE("a layout after its right inverse changes nothing") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout l = random_layout(random, trial % 2 == 0 ? Strides::any : Strides::adjacent);
    INFO(l);
    const Layout back = right_inverse(l);
    INFO(back);
    REQUIRE(back);
    REQUIRE(cosize(back) <= size(l));
    for (int i = 0; i < size(back); ++i) REQUIRE(l(back(i)) == i);
    if (trial % 2 == 1) {
      REQUIRE(size(back) == size(l));
      for (int i = 0; i < size(l); ++i) REQUIRE(back(l(i)) == i);
      REQUIRE(coalesce(right_inverse(back)) == coalesce(l));
    }
  }
}

TEST_CASE("a right inverse reaches as far as leaves adjoin") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    // With gaps: it ends at the first of them.
    const Layout l = random_layout(random, Strides::apart);
    INFO(l);
    const std::vector<int> all = offsets(l);
    const std::set<int> taken(all.begin(), all.end());
    int first_gap = 0;
    while (taken.count(first_gap) != 0) ++first_gap;
    REQUIRE(size(right_inverse(l)) == first_gap);
  }
}

TEST_CASE("the left inverse after a layout changes nothing") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout l = random_layout(random, Strides::apart);
    INFO(l);
    const Layout back = left_inverse(l);
    INFO(back);
    REQUIRE(back);
    REQUIRE(size(back) >= cosize(l));
    for (int i = 0; i < size(l); ++i) REQUIRE(back(l(i)) == i);
    std::vector<int> all = offsets(back);  // each index once, those past the layout's size among them
    std::sort(all.begin(), all.end());
    for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == static_cast<int>(i));
  }
}

TEST_CASE("complements and inverses that cannot be") {
  CHECK(complement(nested(leaf(4, 1), leaf(2, 2)), 8).fault == Fault::overlapping);
  CHECK(complement(nested(leaf(2, 2), leaf(2, 3)), 8).fault == Fault::overlapping);
  CHECK(complement(leaf(4, 1), -1).fault == Fault::too_large);
  CHECK(complement(leaf(4, 1), 2147483647).fault == Fault::too_large);
  CHECK(complement(leaf(3, Layout::limit / 2), 1).fault == Fault::too_large);
  CHECK(complement(leaf(0, 1), 8).fault == Fault::bad_leaf);
  CHECK(right_inverse(leaf(0, 1)).fault == Fault::bad_leaf);
  CHECK(left_inverse(leaf(0, 1)).fault == Fault::bad_leaf);
  CHECK(left_inverse(leaf(4, 0)).fault == Fault::overlapping);
  CHECK(left_inverse(nested(leaf(4, 1), leaf(4, 1))).fault == Fault::overlapping);
  CHECK(right_inverse(leaf(4, 2)) == Layout());
}

}  // namespace
}  // namespace quarry::layout
