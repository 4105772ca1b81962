/// Layouts as people write them: ((8,2),4):((4,64),1), all extents, then all strides.
#pragma once

#include "layout/swizzle.hpp"

namespace quarry::layout {

/// Hands the digits of a number to `put(char)`, as all functions here do.
template <class Put>
constexpr void write(int number, Put&& put) {
  if (number < 0) put('-');
  int power = 1;
  for (int rest = number / 10; rest != 0; rest /= 10) power *= 10;
  for (; power > 0; power /= 10) {
    const int digit = number / power % 10;
    put(static_cast<char>('0' + (digit < 0 ? -digit : digit)));
  }
}

/// The tree with a number for each leaf.
template <class Put, class Number>
constexpr void write_tree(const Layout& l, Put&& put, Number&& number) {
  int open = 0;
  for (int i = 0; i < l.leaves; ++i) {
    // Between two leaves stand the ends of tuples, a comma, and the starts of tuples.
    const int deepest = i + 1 < l.leaves && l.level[i + 1] > l.level[i] ? l.level[i + 1] : l.level[i];
    for (; open > l.level[i] && i > 0; --open) put(')');
    if (i > 0) put(',');
    for (; open < deepest; ++open) put('(');
    write(number(i), put);
  }
  for (; open > 0; --open) put(')');
}

template <class Put>
constexpr void write(const Layout& l, Put&& put) {
  write_tree(l, put, [&](int i) { return l.leaf[i].extent; });
  put(':');
  write_tree(l, put, [&](int i) { return l.leaf[i].stride; });
}

/// Swizzle<bits,base,shift>, as the field writes it.
template <class Put>
constexpr void write(const Swizzle& s, Put&& put) {
  for (const char* name = "Swizzle<"; *name != 0; ++name) put(*name);
  write(s.bits, put);
  put(',');
  write(s.base, put);
  put(',');
  write(s.shift, put);
  put('>');
}

}  // namespace quarry::layout
