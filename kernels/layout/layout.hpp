/// Layouts: functions from coordinates to offsets, as values. Plain constexpr C++, shared by host and device.
///
/// A layout is a tree whose leaves are extents, each with a stride: 8:1 is a leaf, (8:1, 4:16) a tuple of
/// two,
/// ((2:1, 4:8), 4:16) a nested one. An index counts coordinates, the first leaf fastest; a layout takes it to
/// the sum of coordinate times stride over all leaves. Modes are the members of the outermost tuple; each may
/// be asked by an index of its own.
///
/// Everything that an operation cannot do is a value: the result is then the layout 1:0 with a `fault`, which
/// operations hand on. Nothing overflows: size and greatest offset of a layout stay below `Layout::limit`.
#pragma once

namespace quarry::layout {

/// Why there is no such layout.
enum class Fault : unsigned char {
  none,
  bad_leaf,         ///< an extent below 1 or a negative stride
  too_large,        ///< size or greatest offset past the limit
  too_many_leaves,  ///< more than a value has room for
  no_such_mode,     ///< a mode that the layout does not have
  indivisible,      ///< extents and strides do not divide each other so that the result were a layout
  out_of_domain,    ///< an offset of the one layout is no index of the other
  overlapping,  ///< an offset is taken twice, or strides do not divide each other, where all must be apart
};

/// Coordinates 0 to extent - 1, `stride` apart.
struct Leaf {
  int extent;
  int stride;
  friend constexpr bool operator==(const Leaf&, const Leaf&) = default;
};

/// A structural value, so that it can be a template argument. Tuples of one member are that member.
struct Layout {
  static constexpr int capacity = 16;
  static constexpr int limit = 1 << 30;

  int leaves = 1;
  Fault fault = Fault::none;
  Leaf leaf[capacity] = {{1, 0}};
  /// How deep the tuple lies of which neighbouring members hold leaf i - 1 and leaf i, 1 the outermost; 0 for
  /// i = 0.
  unsigned char level[capacity] = {};

  constexpr explicit operator bool() const { return fault == Fault::none; }

  /// The offset of an index; those outside 0 to size - 1 wrap around.
  constexpr int operator()(int index) const {
    unsigned rest = static_cast<unsigned>(index);
    unsigned offset = 0;
    for (int i = 0; i < leaves; ++i) {
      const auto extent = static_cast<unsigned>(leaf[i].extent);
      offset += rest % extent * static_cast<unsigned>(leaf[i].stride);
      rest /= extent;
    }
    return static_cast<int>(offset);
  }

  /// The offset of an index into each of the first modes.
  template <class... Indices>
  constexpr int operator()(int first, int second, Indices... others) const {
    const int indices[] = {first, second, others...};
    unsigned offset = 0;
    unsigned rest = 0;
    int mode = -1;
    for (int i = 0; i < leaves; ++i) {
      if (level[i] <= 1) {
        if (++mode == static_cast<int>(sizeof(indices) / sizeof(int))) break;
        rest = static_cast<unsigned>(indices[mode]);
      }
      const auto extent = static_cast<unsigned>(leaf[i].extent);
      offset += rest % extent * static_cast<unsigned>(leaf[i].stride);
      rest /= extent;
    }
    return static_cast<int>(offset);
  }

  friend constexpr bool operator==(const Layout&, const Layout&) = default;
};

/// The layout that stands for none.
constexpr Layout faulty(Fault fault) {
  Layout none;
  none.fault = fault;
  return none;
}

/// How many indices there are.
constexpr int size(const Layout& l) {
  int product = 1;
  for (int i = 0; i < l.leaves; ++i) product *= l.leaf[i].extent;
  return product;
}

/// One more than the greatest offset.
constexpr int cosize(const Layout& l) {
  int greatest = 0;
  for (int i = 0; i < l.leaves; ++i) greatest += (l.leaf[i].extent - 1) * l.leaf[i].stride;
  return greatest + 1;
}

/// How many modes there are.
constexpr int rank(const Layout& l) {
  int modes = 1;
  for (int i = 1; i < l.leaves; ++i) modes += l.level[i] == 1;
  return modes;
}

/// Puts modes together; what is added after a fault counts no more.
class Tuple {
 public:
  constexpr Tuple() { all_.leaves = 0; }

  constexpr void add(const Layout& mode) {
    if (fault_ == Fault::none) fault_ = fault_of(mode);
    if (fault_ != Fault::none) return;
    for (int i = 0; i < mode.leaves; ++i) {
      all_.leaf[all_.leaves] = mode.leaf[i];
      all_.level[all_.leaves] = static_cast<unsigned char>(i > 0 ? mode.level[i] + 1 : modes_ > 0 ? 1 : 0);
      ++all_.leaves;
    }
    ++modes_;
  }
  constexpr void add(int extent, int stride) {
    Layout leaf;
    leaf.leaf[0] = {extent, stride};
    add(leaf);
  }

  /// The tuple; of one mode, the mode; of none, 1:0.
  constexpr Layout layout() const {
    if (fault_ != Fault::none) return faulty(fault_);
    if (modes_ == 0) return {};
    Layout result = all_;
    if (modes_ > 1) return result;
    for (int i = 1; i < result.leaves; ++i) --result.level[i];
    return result;
  }

 private:
  /// Why a mode cannot be added.
  constexpr Fault fault_of(const Layout& mode) const {
    if (mode.fault != Fault::none) return mode.fault;
    if (all_.leaves + mode.leaves > Layout::capacity) return Fault::too_many_leaves;
    long long indices = size(all_);
    long long offsets = cosize(all_);
    for (int i = 0; i < mode.leaves; ++i) {
      const long long extent = mode.leaf[i].extent;
      const long long stride = mode.leaf[i].stride;
      if (extent < 1 || stride < 0) return Fault::bad_leaf;
      indices *= extent;
      offsets += (extent - 1) * stride;
      if (indices > Layout::limit || offsets > Layout::limit) return Fault::too_large;
    }
    return Fault::none;
  }

  Layout all_;
  int modes_ = 0;
  Fault fault_ = Fault::none;
};

/// The leaf extent:stride.
constexpr Layout leaf(int extent, int stride) {
  Tuple tuple;
  tuple.add(extent, stride);
  return tuple.layout();
}

/// The tuple of some layouts.
template <class... Modes>
constexpr Layout nested(const Modes&... modes) {
  Tuple tuple;
  (tuple.add(modes), ...);
  return tuple.layout();
}

/// The mode with a number, from 0 on. A leaf has itself for its only mode.
constexpr Layout mode(const Layout& l, int number) {
  if (!l) return l;
  if (number < 0 || number >= rank(l)) return faulty(Fault::no_such_mode);
  Layout result;
  result.leaves = 0;
  int current = 0;
  for (int i = 0; i < l.leaves; ++i) {
    if (i > 0 && l.level[i] == 1) ++current;
    if (current != number) continue;
    result.leaf[result.leaves] = l.leaf[i];
    result.level[result.leaves] = static_cast<unsigned char>(result.leaves > 0 ? l.level[i] - 1 : 0);
    ++result.leaves;
  }
  return result;
}

/// The layout of these extents whose offsets are its indices: each stride is the product of the extents
/// before.
template <class... Extents>
constexpr Layout compact(Extents... extents) {
  Tuple tuple;
  long long stride = 1;
  const int all[] = {extents...};
  for (const int extent : all) {
    if (stride > Layout::limit) return faulty(Fault::too_large);
    tuple.add(extent, static_cast<int>(stride));
    stride *= extent;
  }
  return tuple.layout();
}

/// The leaves as modes, in their order: the same function of an index.
constexpr Layout flat(const Layout& l) {
  Layout result = l;
  for (int i = 1; i < l.leaves; ++i) result.level[i] = 1;
  return result;
}

}  // namespace quarry::layout
