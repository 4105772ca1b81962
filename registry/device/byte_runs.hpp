/// The memory of a view as contiguous runs of bytes at regular distances.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "quarry/tensor.hpp"

namespace quarry::detail {

/// Runs of `bytes` bytes, repeated along up to four extents: the elements of a view, each byte of them and no
/// other. The one run of a packed view covers all of it. An element of less than a byte counts as the bytes
/// that it shares.
struct ByteRuns {
  struct Extent {
    std::int64_t count = 0;
    std::int64_t stride = 0;  ///< bytes
    friend bool operator==(const Extent&, const Extent&) = default;
  };

  /// Address of the first byte.
  std::uint64_t begin = 0;
  /// Of one run; 0 for a view without elements.
  std::int64_t bytes = 0;
  std::size_t rank = 0;
  /// By stride, greatest first; each stride is greater than `bytes`.
  std::array<Extent, TensorView::max_rank> extents = {};

  friend bool operator==(const ByteRuns&, const ByteRuns&) = default;

  /// The extents that are there.
  std::span<const Extent> used() const { return std::span(extents).first(rank); }

  /// Bytes from the first to behind the last one, of what extents from `first` on repeat.
  std::int64_t reach(std::size_t first = 0) const {
    std::int64_t all = bytes;
    for (const Extent& extent : used().subspan(first)) all += (extent.count - 1) * extent.stride;
    return all;
  }
  std::uint64_t end() const { return begin + static_cast<std::uint64_t>(reach()); }
};

/// The runs of a view. @pre check_tensor(view), and it is no array of pointers
ByteRuns byte_runs(const TensorView& view);

/// Calls `use(offset, bytes)` for each part of a run between two offsets from the first byte. Takes time by
/// the runs that are there, not by all of them.
template <class Use>
void each_run(const ByteRuns& runs, std::int64_t from, std::int64_t to, const Use& use,
              std::size_t extent = 0, std::int64_t at = 0) {
  if (extent == runs.rank) {
    const std::int64_t first = std::max(at, from);
    const std::int64_t last = std::min(at + runs.bytes, to);
    if (first < last) use(first, last - first);
    return;
  }
  const auto [count, stride] = runs.used()[extent];
  const std::int64_t inner = runs.reach(extent + 1);
  std::int64_t i = from < at + inner ? 0 : (from - at - inner) / stride + 1;
  for (; i < count && at + i * stride < to; ++i) each_run(runs, from, to, use, extent + 1, at + i * stride);
}

}  // namespace quarry::detail
