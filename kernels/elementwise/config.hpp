/// The compile-time parameters of one elementwise kernel, and what follows from them.
#pragma once

namespace quarry::elementwise {

/// One kernel: each thread takes `vectors` times `elements` neighbours of the innermost extent.
struct Config {
  /// Neighbours that move together, in accesses of up to 16 bytes. More than 1 only where memory allows.
  int elements;
  /// How many of those a thread has under way at once.
  int vectors;
  friend constexpr bool operator==(const Config&, const Config&) = default;
};

/// Threads of a block.
constexpr int threads(const Config&) { return 256; }

/// Of an expression with reductions: vectors that a lane has under way at once, so many that a warp has whole
/// groups of 128 columns, and columns that a warp takes at once.
constexpr int held_vectors(const Config& c) {
  const int of_a_group = 4 / c.elements;
  return c.vectors > of_a_group ? c.vectors : of_a_group;
}
constexpr int chunk_columns(const Config& c) { return 32 * c.elements * held_vectors(c); }

/// The widest access, in bytes.
inline constexpr int widest_access = 16;

/// Vectors of a line of so many elements.
constexpr long long vectors_along(const Config& c, long long extent) {
  return extent / c.elements + (extent % c.elements != 0);
}

/// Blocks for so many vectors.
constexpr long long blocks(const Config& c, long long vectors) {
  const long long of_a_block = static_cast<long long>(threads(c)) * c.vectors;
  return vectors / of_a_block + (vectors % of_a_block != 0);
}

}  // namespace quarry::elementwise
