/// Layouts as text and tables for people.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "layout/swizzle.hpp"

namespace quarry::lab {

/// "((8,2),4):((4,64),1)"
std::string text_of(const layout::Layout& l);

/// "Swizzle<3,4,3>", "no swizzle"
std::string text_of(const layout::Swizzle& swizzle);

/// "Swizzle<3,4,3> o (64,128):(1,64)"; without the swizzle where there is none.
std::string text_of(const layout::SwizzledLayout& l);

/// Rows of cells, the columns as wide as they need, numbers to the right; each line is indented by two
/// blanks.
std::string table_text(const std::vector<std::vector<std::string>>& rows);

/// What one step of each leaf of (thread, value) -> row + rows * column means: "thread +4 (8 times): row +1".
std::string steps_text(const layout::Layout& sums, int rows);

/// Which threads hold the sums of the first rows and columns: cells such as `128:3`, thread and value. `sums`
/// is (thread, value) -> row + rows * column; threads are counted from `first_thread` on.
std::string holders_text(const layout::Layout& sums, int rows, int columns, int first_thread);

/// The chunks that a line of shared memory is made of.
struct Chunks {
  int per_line = 0;
  int bytes = 0;     ///< of one chunk
  int elements = 0;  ///< of one chunk
};

/// Which chunk lies where in the first eight lines. `place(line, chunk)` is the byte of a chunk of a line,
/// counted from the first line's beginning; the chunks of a line lie in the places of that line. Cells are
/// the chunk's first element.
template <class PlaceOf>
std::string chunks_text(std::string_view line_name, int lines, const Chunks& chunks, const PlaceOf& place) {
  const int shown_lines = lines < 8 ? lines : 8;
  std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(shown_lines) + 1);
  rows[0].push_back(std::string(line_name) + " \\ byte");
  for (int chunk = 0; chunk < chunks.per_line; ++chunk)
    rows[0].push_back("+" + std::to_string(chunks.bytes * chunk));
  for (int line = 0; line < shown_lines; ++line) {
    auto& cells = rows[static_cast<std::size_t>(line) + 1];
    cells.assign(static_cast<std::size_t>(chunks.per_line) + 1, "");
    cells[0] = std::to_string(line);
    for (int chunk = 0; chunk < chunks.per_line; ++chunk) {
      const int at = place(line, chunk) / chunks.bytes - line * chunks.per_line;
      cells.at(static_cast<std::size_t>(at) + 1) = std::to_string(chunk * chunks.elements);
    }
  }
  return table_text(rows);
}

}  // namespace quarry::lab
