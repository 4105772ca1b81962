#include "tools/command/common/growing_listing.hpp"

#include "tools/command/common/listing_parts.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {

GrowingListing::GrowingListing(Listing listing, const ListingFlags& flags, std::vector<std::string> widest)
    : listing_(std::move(listing)), flags_(flags) {
  if (const auto chosen = chosen_columns(listing_, flags_)) columns_ = *chosen;
  for (const std::size_t column : columns_) widest_.push_back(widest[column]);
}

std::string GrowingListing::table_text_of(std::size_t row) {
  std::vector<std::vector<TableCell>> lines(2);
  lines[0] = heading(listing_, columns_);
  for (const std::string& text : widest_) lines[1].push_back({text});
  lines.push_back(table_line(listing_, columns_, row));
  for (std::size_t i = 0; i < columns_.size(); ++i) lines[0][i].is_number = lines[2][i].is_number;
  std::vector<TableColumn> columns = table_columns(listing_, columns_, !flags_.columns.empty());
  for (TableColumn& column : columns) column.is_prose = false;  // such that each row is one line

  const TableText table = table_text(lines, columns, output_width());
  if (row == 0) say_what_is_hidden(listing_, columns_, table);
  const std::size_t second = table.text.find('\n') + 1;
  const std::size_t third = table.text.find('\n', second) + 1;
  return (row == 0 ? table.text.substr(0, second) : "") + table.text.substr(third);
}

std::string GrowingListing::text(std::size_t row) {
  const bool is_first = row == 0;
  switch (flags_.format) {
    case Format::csv:
      return (is_first ? csv_heading(listing_, columns_) : "") + csv_line(listing_, columns_, row);
    case Format::markdown:
      return (is_first ? markdown_heading(listing_, columns_) : "") + markdown_line(listing_, columns_, row);
    case Format::names: return text_of(listing_.cell(row, *listing_.name_column), std::nullopt) + "\n";
    default: return table_text_of(row);
  }
}

void GrowingListing::add() {
  const std::size_t row = listing_.rows++;
  if (!grows() || row >= row_limit(flags_)) return;
  write_output(text(row));
  flush_output();
}

Status GrowingListing::end(const nlohmann::ordered_json& head) {
  listing_.head = head;
  if (!grows() || listing_.rows == 0) return print(listing_, flags_);
  const std::size_t limit = row_limit(flags_);
  if (listing_.rows > limit && flags_.format == Format::table && !flags_.limit) {
    say_what_is_cut(listing_, listing_.rows - limit);
  }
  return {};
}

}  // namespace quarry::command
