/// Offsets some bits of which are XORed with others: how shared memory is filled so that lines next to each
/// other meet in no bank.
#pragma once

#include "layout/composition.hpp"

namespace quarry::layout {

/// XORs `bits` bits from bit `base` on with as many that lie `shift` further up (with a negative shift: those
/// further up with these). All bits are apart: |shift| >= bits. With no bits, offsets stay as they are.
///
/// Laws: s(s(x)) == x; s(x ^ y) == s(x) ^ s(y); s(x + p) == s(x) + p for multiples p of s.period(); a swizzle
/// takes the offsets 0 to p - 1 to themselves, each to another.
struct Swizzle {
  int bits = 0;
  int base = 0;
  int shift = 0;

  /// Whether the bits are apart and exist; a swizzle that is not valid changes nothing.
  constexpr bool valid() const {
    if (bits < 0 || base < 0 || bits > 30 || base > 30 || shift > 30 || shift < -30) return false;
    const int distance = shift < 0 ? -shift : shift;
    return distance >= bits && base + distance + bits <= 30;
  }

  /// What an offset is XORed with.
  constexpr int key(int offset) const {
    if (!valid()) return 0;
    const unsigned mask = (1u << bits) - 1;
    const auto x = static_cast<unsigned>(offset);
    if (shift >= 0) return static_cast<int>((x >> (base + shift) & mask) << base);
    return static_cast<int>((x >> base & mask) << (base - shift));
  }

  constexpr int operator()(int offset) const { return offset ^ key(offset); }

  /// The offset from which on all repeats.
  constexpr int period() const {
    if (!valid() || bits == 0) return 1;
    return 1 << (base + bits + (shift < 0 ? -shift : shift));
  }

  friend constexpr bool operator==(const Swizzle&, const Swizzle&) = default;
};

/// A swizzle after a layout whose offsets are moved by `start`.
struct SwizzledLayout {
  Swizzle swizzle;
  Layout layout;
  int start = 0;

  /// The offset of an index, or of an index into each of the first modes.
  template <class... Indices>
  constexpr int operator()(Indices... indices) const {
    return swizzle(start + layout(indices...));
  }

  friend constexpr bool operator==(const SwizzledLayout&, const SwizzledLayout&) = default;
};

/// Law: composition(s, l)(i) == s(l(i)).
constexpr SwizzledLayout composition(const Swizzle& swizzle, const Layout& inner) { return {swizzle, inner}; }

/// Law: composition(outer, inner)(i) == outer(inner(i)). Faults are the faults of the layouts' composition.
constexpr SwizzledLayout composition(const SwizzledLayout& outer, const Layout& inner) {
  return {outer.swizzle, composition(outer.layout, inner), outer.start};
}

}  // namespace quarry::layout
