/// Where elements of interleaved matrices lie. Plain constexpr C++, shared by host and device.
///
/// A matrix is walked by one stride along its rows and one along its columns. Of an interleaved one, the
/// extent that is cut into groups of 32 is `grouped`: its stride leads from one group to the next, within
/// which elements are neighbours; the other extent's stride is 32. The transposed matrix has the strides
/// exchanged, as any.
#pragma once

#include "quarry/types.hpp"

namespace quarry {

constexpr bool groups_rows(Layout layout) { return layout == Layout::row_interleaved32; }
constexpr bool groups_columns(Layout layout) { return layout == Layout::column_interleaved32; }

constexpr bool groups_rows(LayoutTag tag) { return tag == LayoutTag::row_interleaved32; }
constexpr bool groups_columns(LayoutTag tag) { return tag == LayoutTag::column_interleaved32; }

/// Elements from the first to the i-th along an extent. @pre i >= 0
template <bool grouped>
constexpr long long distance(long long i, long long stride) {
  static_assert(interleave == 1 << 5);
  if constexpr (grouped) return (i >> 5) * stride + (i & (interleave - 1));
  return i * stride;
}

/// The same where it is known at run time alone.
constexpr long long distance(bool grouped, long long i, long long stride) {
  return grouped ? distance<true>(i, stride) : distance<false>(i, stride);
}

}  // namespace quarry
