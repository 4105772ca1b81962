/// A table for people as text, as wide as their terminal.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace quarry::command {

/// One value of a table.
struct TableCell {
  std::string text;
  /// Stands at the right side of its column.
  bool is_number = false;
};

/// How a column may become narrower.
struct TableColumn {
  /// Sentences, which may go on in further lines.
  bool is_prose = false;
  /// The user named it: it stays, however wide the table is.
  bool is_chosen = false;
};

struct TableText {
  std::string text;
  /// Columns that there was no room for, by number.
  std::vector<std::size_t> left_out;
  /// Some text has dots for its middle.
  bool is_shortened = false;
};

/// Places that a text takes in a line, where an accented letter is one place wide however many bytes it has.
std::size_t width_of(std::string_view text);

/// Appends a text and blanks around it to `width` places.
void append_padded(std::string& line, std::string_view text, std::size_t width, bool right);

/// The lines, a heading first. Where they are longer than `room` places, prose goes on in further lines, no
/// narrower than 16 places; then columns are left out from the right until two are left; then texts have dots
/// for their middle.
/// @param room 0: as wide as it comes
/// @pre each line has a cell for each column
TableText table_text(const std::vector<std::vector<TableCell>>& lines,
                     const std::vector<TableColumn>& columns, std::size_t room);

}  // namespace quarry::command
