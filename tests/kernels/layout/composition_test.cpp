/// Coalescing and composition of layouts against index enumeration.
#include "layout/composition.hpp"

#include <map>

#include "support/random_layout.hpp"

namespace quarry::layout {
namespace {

using namespace test;

static_assert(coalesce(nested(compact(2, 3), leaf(4, 6), leaf(5, 1))) == nested(leaf(24, 1), leaf(5, 1)));
static_assert(composition(nested(leaf(6, 8), leaf(2, 2)), nested(leaf(4, 3), leaf(3, 1))) ==
              nested(nested(leaf(2, 24), leaf(2, 2)), leaf(3, 8)));

TEST_CASE("coalescing keeps all offsets, in the fewest leaves") {
  QUARRY_SEEDED(random);
  std::map<std::vector<int>, Layout> by_offsets;
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout l = random_layout(random, trial % 2 == 0 ? Strides::any : Strides::adjacent);
    INFO(l);
    const Layout simple = coalesce(l);
    INFO(simple);
    REQUIRE(size(simple) == size(l));
    REQUIRE(offsets(simple) == offsets(l));
    REQUIRE(flat(simple) == simple);
    REQUIRE(coalesce(simple) == simple);
    for (int i = 0; i < simple.leaves; ++i) {
      REQUIRE((simple.leaf[i].extent > 1 || simple == Layout()));
      if (i > 0) REQUIRE(simple.leaf[i].stride != simple.leaf[i - 1].extent * simple.leaf[i - 1].stride);
    }
    // The same function is the same value.
    const auto [other, is_new] = by_offsets.try_emplace(offsets(l), simple);
    REQUIRE(other->second == simple);
  }
  REQUIRE(by_offsets.size() < static_cast<std::size_t>(layout_trials));
}

TEST_CASE("filtering leaves out nothing but repetitions") {
  QUARRY_SEEDED(random);
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout l = random_layout(random, Strides::any);
    INFO(l);
    const Layout kept = filtered(l);
    const std::vector<int> all = offsets(l);
    const std::vector<int> left = offsets(kept);
    REQUIRE(std::set(all.begin(), all.end()) == std::set(left.begin(), left.end()));
    for (int i = 0; i < kept.leaves; ++i) REQUIRE((kept.leaf[i].stride != 0 || kept == Layout()));
  }
}

/// Whether the offsets belong to some layout of one mode: a first leaf, and repetitions of it.
bool is_layout(const std::vector<long long>& f) {
  if (f.size() == 1) return f[0] == 0;
  for (std::size_t extent = 2; extent <= f.size(); ++extent) {
    if (f[extent - 1] != static_cast<long long>(extent - 1) * f[1]) return false;
    if (f.size() % extent != 0) continue;
    std::vector<long long> starts;
    bool repeats = true;
    for (std::size_t i = 0; i < f.size() && repeats; ++i) {
      if (i % extent == 0) starts.push_back(f[i]);
      repeats = f[i] == starts.back() + f[i % extent];
    }
    if (repeats && is_layout(starts)) return true;
  }
  return false;
}

/// An offset of the layout if its strides were so wide apart that no sum of some is another by chance.
long long generic_offset(const Layout& l, int index) {
  const Coordinate c = coordinate(l, index);
  long long sum = 0;
  for (int i = 0; i < c.leaves; ++i) sum += static_cast<long long>(c.of[i]) << 12 * i;
  return sum;
}

/// Whether the composition can be a layout that replaces each leaf of `inner` by a mode, whatever the strides
/// of `outer`.
bool can_compose(const Layout& outer, const Layout& inner) {
  const Layout walked = coalesce(outer);
  std::vector<long long> sums(static_cast<std::size_t>(size(inner)));
  for (int i = 0; i < inner.leaves; ++i) {
    std::vector<long long> wanted;
    for (int step = 0; step < inner.leaf[i].extent; ++step) {
      wanted.push_back(generic_offset(walked, step * inner.leaf[i].stride));
    }
    if (!is_layout(wanted)) return false;
    for (std::size_t at = 0; at < sums.size(); ++at) {
      sums[at] += wanted[static_cast<std::size_t>(coordinate(inner, static_cast<int>(at)).of[i])];
    }
  }
  for (int i = 0; i < size(inner); ++i) {
    if (sums[static_cast<std::size_t>(i)] != generic_offset(walked, inner(i))) return false;
  }
  return true;
}

TEST_CASE("composition is one layout after another") {
  QUARRY_SEEDED(random);
  int composed = 0;
  std::map<Fault, int> faults;
  while (composed < layout_trials) {
    const Layout outer = random_layout(random, Strides::any);
    const Layout inner = random_layout(random, random() % 4 == 0 ? Strides::any : Strides::apart, 3);
    INFO(outer << " o " << inner);
    const Layout result = composition(outer, inner);
    INFO(result);
    REQUIRE((result.fault == Fault::out_of_domain) == (cosize(inner) > size(outer)));
    if (!result) {
      ++faults[result.fault];
      if (result.fault == Fault::out_of_domain) continue;
      REQUIRE(result.fault == Fault::indivisible);
      REQUIRE(!can_compose(outer, inner));
      continue;
    }
    REQUIRE(can_compose(outer, inner));
    ++composed;
    REQUIRE(size(result) == size(inner));
    REQUIRE(rank(result) >= rank(inner));
    for (int i = 0; i < size(inner); ++i) REQUIRE(result(i) == outer(inner(i)));
    // Each mode of the inner layout has its mode in the result.
    if (rank(inner) > 1) {
      REQUIRE(rank(result) == rank(inner));
      for (int i = 0; i < rank(inner); ++i) REQUIRE(mode(result, i) == composition(outer, mode(inner, i)));
    }
  }
  CHECK(faults[Fault::indivisible] > 0);
  CHECK(faults[Fault::out_of_domain] > 0);
}

TEST_CASE("composition has units on both sides and is associative") {
  QUARRY_SEEDED(random);
  int associated = 0;
  for (int trial = 0; trial < layout_trials; ++trial) {
    const Layout a = random_layout(random, Strides::any);
    const Layout b = random_layout(random, Strides::apart, 3);
    const Layout c = random_layout(random, Strides::apart, 2);
    INFO(a << " o " << b << " o " << c);
    REQUIRE(coalesce(composition(a, compact(size(a)))) == coalesce(a));
    REQUIRE(offsets(composition(compact(cosize(a)), a)) == offsets(a));
    REQUIRE(composition(compact(cosize(a)), a).leaves == a.leaves);
    const Layout left = composition(composition(a, b), c);
    const Layout right = composition(a, composition(b, c));
    if (!left || !right) continue;
    ++associated;
    REQUIRE(offsets(left) == offsets(right));
  }
  CHECK(associated > 100);
}

TEST_CASE("compositions that cannot be") {
  const Layout six = nested(leaf(6, 1), leaf(2, 100));
  CHECK(composition(six, leaf(3, 4)).fault == Fault::indivisible);
  CHECK(composition(six, leaf(2, 4)) == leaf(2, 4));
  CHECK(composition(six, leaf(2, 12)).fault == Fault::out_of_domain);
  CHECK(composition(six, leaf(13, 1)).fault == Fault::out_of_domain);
  CHECK(composition(leaf(0, 1), six).fault == Fault::bad_leaf);
  CHECK(composition(six, leaf(0, 1)).fault == Fault::bad_leaf);
  CHECK(coalesce(leaf(0, 1)).fault == Fault::bad_leaf);
  CHECK(filtered(leaf(0, 1)).fault == Fault::bad_leaf);
  // Each leaf adds up, but not both.
  CHECK(composition(nested(leaf(4, 1), leaf(4, 9)), nested(leaf(2, 1), leaf(2, 2))) ==
        nested(leaf(2, 1), leaf(2, 2)));
  CHECK(composition(nested(leaf(4, 1), leaf(4, 9)), nested(leaf(3, 1), leaf(2, 2))).fault ==
        Fault::indivisible);
  // Eight leaves for one.
  Tuple twos;
  Tuple ones;
  for (int i = 0; i < 8; ++i) twos.add(2, i % 2 == 0 ? 1 : 0);
  for (int i = 0; i < 8; ++i) ones.add(1, 0);
  const Layout outer = twos.layout();
  CHECK(composition(outer, nested(ones.layout(), leaf(256, 1))).leaves == 16);
  CHECK(composition(outer, nested(ones.layout(), leaf(256, 1), leaf(1, 0))).fault == Fault::too_many_leaves);
}

}  // namespace
}  // namespace quarry::layout
