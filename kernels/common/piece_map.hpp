/// How the threads of a block share the copies of an operand's tile. Plain constexpr C++, shared by host and
/// device: a family asks it which configs can be copied.
#pragma once

#include "common/operand_tile.cuh"

namespace quarry {

/// How the threads of a block share the pieces of a tile (a piece is what one copy moves): neighbouring
/// threads take neighbouring pieces of a line, each thread the same columns of several lines.
struct PieceMap {
  int pieces_per_line;
  int threads_per_line;
  int line_step;      ///< lines that the block covers at a time
  int line_rounds;    ///< times that it does
  int column_rounds;  ///< pieces of a line for one thread

  constexpr int pieces() const { return line_rounds * column_rounds; }
};

constexpr PieceMap piece_map(const OperandTile& tile, int piece_elements, int threads) {
  const int per_line = tile.line_elements() / piece_elements;
  int across = per_line & -per_line;  // a power of two, so that every line is shared alike
  if (across > threads) across = threads & -threads;
  const int line_step = threads / across;
  return {per_line, across, line_step, (tile.lines() + line_step - 1) / line_step, per_line / across};
}

/// The rounds along M or N, of which a thread notes in the bits of a word whether they lie in the operand.
constexpr int edge_rounds(const OperandTile& tile, const PieceMap& map) {
  return tile.k_contiguous ? map.line_rounds : map.column_rounds;
}
inline constexpr int most_edge_rounds = 32;

/// Whether every thread has a place in a round, and the permutation of its lines (which goes by the lowest
/// three bits of their numbers) follows from the permutation of its first: true of any power of two of
/// threads.
constexpr bool is_shared_evenly(const PieceMap& map, int threads) {
  const bool power_of_two = (map.line_step & (map.line_step - 1)) == 0;
  return threads % map.threads_per_line == 0 && (power_of_two || map.line_step % 8 == 0);
}

}  // namespace quarry
