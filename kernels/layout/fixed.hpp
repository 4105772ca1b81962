/// Layouts that are constants, for indices that are not.
#pragma once

#include "layout/layout.hpp"

namespace quarry::layout {

/// The layout as a function whose extents and strides are constants of the machine code: where they are
/// powers of two, only shifts and masks are left. A mode's last coordinate is not wrapped: indices must
/// be below the mode's size.
template <Layout l>
struct Fixed {
  static_assert(l.fault == Fault::none);

  /// The offset of an index, or of an index into each of the first modes.
  template <class... Indices>
  constexpr int operator()(int first, Indices... others) const {
    const unsigned indices[] = {static_cast<unsigned>(first), static_cast<unsigned>(others)...};
    unsigned rest = indices[0];
    return static_cast<int>(sum<0, 0, sizeof...(Indices) != 0>(indices, rest));
  }

 private:
  /// What leaf `i` and those after it add, when the index into mode `m` has come down to `rest`.
  template <int i, int m, bool by_mode, unsigned count>
  static constexpr unsigned sum(const unsigned (&indices)[count], unsigned rest) {
    constexpr auto extent = static_cast<unsigned>(l.leaf[i].extent);
    constexpr auto stride = static_cast<unsigned>(l.leaf[i].stride);
    constexpr bool more = i + 1 < l.leaves;
    constexpr bool next_mode = by_mode && more && l.level[more ? i + 1 : i] == 1;
    constexpr bool last = !more || next_mode;
    const unsigned own = (last ? rest : rest % extent) * stride;
    if constexpr (!more || (next_mode && m + 1 == count)) {
      return own;
    } else if constexpr (next_mode) {
      return own + sum<i + 1, m + 1, by_mode>(indices, indices[m + 1]);
    } else {
      return own + sum<i + 1, m, by_mode>(indices, rest / extent);
    }
  }
};

}  // namespace quarry::layout
