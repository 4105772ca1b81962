#include "tools/command/common/table_text.hpp"

#include <algorithm>
#include <string_view>

namespace quarry::command {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_prose = 16;
constexpr std::size_t least_text = 32;
/// Columns that are not left out for want of room: in front stands the name, then what is asked of it first.
constexpr std::size_t least_columns = 2;

using Lines = std::vector<std::vector<TableCell>>;

/// What is shown: columns by number, and the width of each.
struct Fit {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> widths;

  std::size_t total() const {
    std::size_t sum = 0;
    for (const std::size_t width : widths) sum += width + gap;
    return sum - std::min(sum, gap);
  }
};

Fit whole_width(const Lines& lines, std::size_t count) {
  Fit fit;
  for (std::size_t column = 0; column < count; ++column) {
    std::size_t width = 0;
    for (const auto& line : lines) width = std::max(width, width_of(line[column].text));
    fit.columns.push_back(column);
    fit.widths.push_back(width);
  }
  return fit;
}

/// Takes a place at a time from the widest column that `may`, until the table fits or all of these are as
/// narrow as `least`.
template <class May>
void narrow(Fit& fit, std::size_t room, std::size_t least, const May& may) {
  while (fit.total() > room) {
    std::size_t widest = fit.columns.size();
    for (std::size_t i = 0; i < fit.columns.size(); ++i) {
      if (fit.widths[i] <= least || !may(fit.columns[i])) continue;
      if (widest == fit.columns.size() || fit.widths[i] > fit.widths[widest]) widest = i;
    }
    if (widest == fit.columns.size()) return;
    --fit.widths[widest];
  }
}

void narrow_prose(Fit& fit, const std::vector<TableColumn>& columns, std::size_t room) {
  narrow(fit, room, least_prose, [&](std::size_t column) { return columns[column].is_prose; });
}

/// Takes columns out from the right until the others fit with their prose narrow. @return those taken out
std::vector<std::size_t> leave_out(Fit& fit, const std::vector<TableColumn>& columns, std::size_t room) {
  std::vector<std::size_t> left_out;
  const auto fits = [&] {
    Fit narrow = fit;
    narrow_prose(narrow, columns, room);
    return narrow.total() <= room;
  };
  for (std::size_t i = fit.columns.size(); i-- > least_columns && !fits();) {
    if (columns[fit.columns[i]].is_chosen) continue;
    left_out.insert(left_out.begin(), fit.columns[i]);
    fit.columns.erase(fit.columns.begin() + static_cast<std::ptrdiff_t>(i));
    fit.widths.erase(fit.widths.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return left_out;
}

/// The bytes of the first `places` places of a text.
std::size_t bytes_of(std::string_view text, std::size_t places) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    const bool starts = (text[at] & 0xC0) != 0x80;
    if (starts && places-- == 0) break;
  }
  return at;
}

/// The text in pieces of at most `width` places, broken at blanks where there are any.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> pieces;
  while (width_of(text) > width) {
    std::size_t end = bytes_of(text, width);
    const std::size_t blank = text.substr(0, end + 1).rfind(' ');
    const bool at_blank = blank != text.npos && blank > 0;
    if (at_blank) end = blank;
    pieces.emplace_back(text.substr(0, end));
    text.remove_prefix(end + (at_blank ? 1 : 0));
  }
  pieces.emplace_back(text);
  return pieces;
}

/// The text with dots for its middle, where it is wider than `width`.
std::string shortened(const std::string& text, std::size_t width) {
  if (width_of(text) <= width) return text;
  const std::size_t kept = width - 2;
  const std::size_t tail = kept / 2;
  return text.substr(0, bytes_of(text, kept - tail)) + ".." +
         text.substr(bytes_of(text, width_of(text) - tail));
}

void append_line(std::string& output, const std::vector<TableCell>& line, const Fit& fit,
                 const std::vector<TableColumn>& columns) {
  std::vector<std::vector<std::string>> cells;
  std::size_t height = 1;
  for (std::size_t i = 0; i < fit.columns.size(); ++i) {
    const std::string& text = line[fit.columns[i]].text;
    if (columns[fit.columns[i]].is_prose) {
      cells.push_back(wrapped(text, std::max<std::size_t>(fit.widths[i], 1)));
    } else {
      cells.push_back({shortened(text, fit.widths[i])});
    }
    height = std::max(height, cells.back().size());
  }
  for (std::size_t row = 0; row < height; ++row) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) text.append(gap, ' ');
      const std::string piece = row < cells[i].size() ? cells[i][row] : std::string();
      append_padded(text, piece, fit.widths[i], line[fit.columns[i]].is_number);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    output += text + '\n';
  }
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

void append_padded(std::string& line, std::string_view text, std::size_t width, bool right) {
  const std::string padding(width - std::min(width, width_of(text)), ' ');
  if (right) line += padding;
  line += text;
  if (!right) line += padding;
}

TableText table_text(const std::vector<std::vector<TableCell>>& lines,
                     const std::vector<TableColumn>& columns, std::size_t room) {
  Fit fit = whole_width(lines, columns.size());
  TableText table;
  if (room > 0) {
    table.left_out = leave_out(fit, columns, room);
    narrow_prose(fit, columns, room);
    const std::size_t before = fit.total();
    narrow(fit, room, least_text,
           [&](std::size_t i) { return !columns[i].is_prose && !columns[i].is_chosen; });
    table.is_shortened = fit.total() < before;
  }
  for (const auto& line : lines) append_line(table.text, line, fit, columns);
  return table;
}

}  // namespace quarry::command
