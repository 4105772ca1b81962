/// Copies matrices with different lines in pieces of 16 bytes, by way of shared memory. Lines that are not
/// written in pieces are written element by element.
///
/// "Lines" are lines of the matrix that is read. Their elements are lines of the matrix that is written. A
/// patch is what a thread turns in registers: a piece of each of so many lines that an element of each makes
/// a word of four bytes (two words of f64). Its words go to shared memory, where the lines of the other
/// matrix lie.
#pragma once

#include "arch/arch.hpp"
#include "reorder_matrix/config.hpp"
#include "reorder_matrix/lines.cuh"
#include "reorder_matrix/params.hpp"
#include "reorder_matrix/patch.cuh"

namespace quarry::reorder_matrix {

/// A tile on its way from one matrix to the other.
template <Config config, class T, class Lines>
class TurnedTile {
 public:
  QUARRY_DEVICE TurnedTile(const ReorderParams& params, const Tile& tile)
      : from_(params.from, params), to_(params.to, params), batch_(tile.batch) {
    const bool rows = params.from.lines_are_rows;
    first_line_ = rows ? tile.first_row : tile.first_column;
    first_element_ = rows ? tile.first_column : tile.first_row;
    lines_ = (rows ? params.rows : params.columns) - first_line_;
    elements_ = (rows ? params.columns : params.rows) - first_element_;
  }

  QUARRY_DEVICE void read() const {
    QUARRY_ROLLED
    for (int stripe = 0; stripe < stripes; stripe += stripes_at_once) read_stripes(stripe);
  }

  /// @pre all threads have read their part
  QUARRY_DEVICE void write() const {
    if (to_.moves_pieces())
      write_pieces();
    else
      write_elements();
  }

 private:
  QUARRY_DEVICE void write_pieces() const {
    const int first = first_line();
    QUARRY_ROLLED
    for (int stripe = 0; stripe < stripes; ++stripe) {
      const int line = piece_of(stripe) * of_piece;
      T* to = to_.at(batch_, first_element_ + first, first_line_ + line);
      QUARRY_ROLLED
      for (int element = first; element < extent && element < elements_; element += lines_at_once) {
        if (line + of_piece <= lines_)
          arch::global_store(to, arch::shared_load<Piece>(staged(element, line)));
        else
          write_rest(to, element, line);
        to += lines_at_once * to_.line_stride();
      }
    }
  }

  /// Neighbouring threads write neighbours.
  QUARRY_DEVICE void write_elements() const {
    QUARRY_ROLLED
    for (int i = arch::thread_index(); i < extent * extent; i += threads(config)) {
      const int element = i / extent;
      const int line = i % extent;
      if (element >= elements_ || line >= lines_) continue;
      arch::global_store(to_.at(batch_, first_element_ + element, first_line_ + line),
                         arch::shared_load<T>(staged(element, line)));
    }
  }

  static constexpr int extent = tile_extent(config);
  static constexpr int of_piece = Patch<T>::elements;  ///< elements

  /// A stripe is 128 bytes of each line. Neighbouring threads take the eight pieces of a line, then the
  /// pieces of the next line.
  static constexpr int pieces_of_stripe = 128 / piece_bytes;
  static constexpr int stripes = extent / of_piece / pieces_of_stripe;
  static constexpr int stripes_at_once = stripes < 2 ? stripes : 2;
  static constexpr int lines_at_once = threads(config) / pieces_of_stripe;
  static constexpr int patches = extent / Patch<T>::lines / lines_at_once;  ///< of a thread and a stripe
  static_assert(stripes * pieces_of_stripe * of_piece == extent && stripes % stripes_at_once == 0);
  static_assert(patches * Patch<T>::lines * lines_at_once == extent);

  QUARRY_DEVICE static int first_line() {
    return static_cast<int>(static_cast<unsigned>(arch::thread_index()) / pieces_of_stripe);
  }
  QUARRY_DEVICE static int piece_of(int stripe) {
    const unsigned piece = static_cast<unsigned>(arch::thread_index()) % pieces_of_stripe;
    return stripe * pieces_of_stripe + static_cast<int>(piece);
  }

  /// Where an element is in shared memory. Pieces trade places, so that the words that a warp stores at once,
  /// of four neighbouring patches in each of eight lines that are a piece apart, lie in all banks.
  QUARRY_DEVICE static arch::SharedAddress staged(int element, int line) {
    constexpr unsigned n = of_piece;
    const auto e = static_cast<unsigned>(element);
    const auto l = static_cast<unsigned>(line);
    const unsigned piece = l / n ^ e / n % pieces_of_stripe;
    return arch::shared_memory() + static_cast<int>((e * extent + piece * n + l % n) * sizeof(T));
  }

  /// Reads a few stripes. All pieces of a thread are on their way before the first is turned.
  QUARRY_DEVICE void read_stripes(int first_stripe) const {
    Patch<T> values[stripes_at_once][patches] = {};
    QUARRY_UNROLL
    for (int stripe = 0; stripe < stripes_at_once; ++stripe) {
      const int element = piece_of(first_stripe + stripe) * of_piece;
      const bool is_whole = element + of_piece <= elements_;
      QUARRY_UNROLL
      for (int patch = 0; patch < patches; ++patch) {
        const int line = (first_line() + patch * lines_at_once) * Patch<T>::lines;
        const T* const from = from_.at(batch_, first_line_ + line, first_element_ + element);
        QUARRY_UNROLL
        for (int i = 0; i < Patch<T>::lines; ++i) {
          if (is_whole && line + i < lines_)
            values[stripe][patch].pieces[i] = from_.load(from + i * from_.line_stride());
        }
      }
    }
    QUARRY_UNROLL
    for (int stripe = 0; stripe < stripes_at_once; ++stripe) {
      const int element = piece_of(first_stripe + stripe) * of_piece;
      QUARRY_UNROLL
      for (int patch = 0; patch < patches; ++patch) {
        const int line = (first_line() + patch * lines_at_once) * Patch<T>::lines;
        if (element + of_piece <= elements_)
          stage(values[stripe][patch], element, line);
        else
          read_rest(element, line);
      }
    }
  }

  /// Stores a patch to shared memory.
  QUARRY_DEVICE static void stage(const Patch<T>& patch, int element, int line) {
    const arch::SharedAddress first = staged(element, line);
    const TurnedPatch<T> turned = turn(patch);
    QUARRY_UNROLL
    for (int i = 0; i < of_piece; ++i)
      arch::shared_store(first + i * extent * static_cast<int>(sizeof(T)), turned.words[i]);
  }

  /// Reads the elements of a patch where lines have no whole piece left.
  QUARRY_DEVICE void read_rest(int element, int line) const {
    QUARRY_ROLLED
    for (int i = line; i < line + Patch<T>::lines && i < lines_; ++i) {
      move_elements(from_.at(batch_, first_line_ + i, first_element_ + element), from_.step(),
                    elements_ - element,
                    [&](int j, T value) { arch::shared_store(staged(element + j, i), value); });
    }
  }

  /// Writes the elements of a piece that is not whole.
  QUARRY_DEVICE void write_rest(T* to, int element, int line) const {
    QUARRY_ROLLED
    for (int i = line; i < lines_; ++i)
      arch::global_store(to + (i - line), arch::shared_load<T>(staged(element, i)));
  }

  Lines from_;
  Lines to_;
  int batch_;
  int first_line_;
  int first_element_;
  int lines_;     ///< from the tile's first one on
  int elements_;  ///< likewise
};

/// Copies matrices with different lines, tile by tile.
template <Config config, class T, class Lines>
QUARRY_DEVICE void turn_pieces(const ReorderParams& params) {
  constexpr int extent = tile_extent(config);
  const long long count = tiles(params.rows, params.columns, params.batch, extent);
  QUARRY_ROLLED
  for (long long i = arch::block_index(); i < count; i += arch::grid_blocks()) {
    const TurnedTile<config, T, Lines> tile(params, tile_at(params, extent, i));
    tile.read();
    arch::block_barrier();
    tile.write();
    arch::block_barrier();  // the tile has been read
  }
}

}  // namespace quarry::reorder_matrix
