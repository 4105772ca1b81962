#include "tools/command/common/listing_parts.hpp"

#include "lab/text.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {
namespace {

bool is_number(const Cell& cell) {
  return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

/// RFC 4180: quotes around what needs them, quotes inside doubled.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (const char c : text) {
    if (c == '"') field += '"';
    field += c;
  }
  return field + '"';
}

/// A cell of a Markdown table, where a bar would end it.
std::string markdown_cell(const std::string& text) {
  std::string cell;
  for (const char c : lab::one_line(text)) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

/// A line of CSV. @param text of the column of this number
template <class Text>
std::string csv_fields(ColumnNumbers columns, const Text& text) {
  std::string line;
  for (const std::size_t column : columns) line += csv_field(text(column)) + ",";
  if (!line.empty()) line.pop_back();
  return line + "\n";
}

/// A line of Markdown, likewise.
template <class Text>
std::string markdown_cells(ColumnNumbers columns, const Text& text) {
  std::string line = "|";
  for (const std::size_t column : columns) line += " " + markdown_cell(text(column)) + " |";
  return line + "\n";
}

/// Whether a name is the full path of a column's field, or an end of it that is no shorter than the column's
/// name: as filters know the field.
bool names_path(const Column& column, std::string_view name) {
  const std::string_view path = column.path;
  if (!path.ends_with(name) || name.size() < column.name.size()) return false;
  return path.size() == name.size() || path[path.size() - name.size() - 1] == '.';
}

}  // namespace

Result<std::size_t> column_number(const Listing& listing, std::string_view name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    if (listing.columns[i].name == name || names_path(listing.columns[i], name)) return i;
    names.push_back(listing.columns[i].name);
  }
  return Status(StatusCode::not_found,
                "unknown column " + lab::quoted(name) + lab::did_you_mean(name, names));
}

Result<std::vector<std::size_t>> chosen_columns(const Listing& listing, const ListingFlags& flags) {
  std::vector<std::size_t> numbers;
  for (const std::string& name : flags.columns) {
    const Result<std::size_t> number = column_number(listing, name);
    if (!number) return number.status();
    numbers.push_back(*number);
  }
  if (!flags.columns.empty()) return numbers;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    if (flags.format != Format::table || listing.columns[i].in_table) numbers.push_back(i);
  }
  return numbers;
}

std::vector<TableCell> heading(const Listing& listing, ColumnNumbers columns) {
  std::vector<TableCell> line;
  for (const std::size_t column : columns) line.push_back({listing.columns[column].name, false});
  return line;
}

std::vector<TableCell> table_line(const Listing& listing, ColumnNumbers columns, std::size_t row) {
  std::vector<TableCell> line;
  for (const std::size_t column : columns) {
    const Cell cell = listing.cell(row, column);
    const std::string text = text_of(cell, listing.columns[column].decimals);
    line.push_back({text.empty() ? "-" : lab::one_line(text), is_number(cell)});
  }
  return line;
}

std::vector<TableColumn> table_columns(const Listing& listing, ColumnNumbers columns, bool are_chosen) {
  std::vector<TableColumn> all;
  for (const std::size_t column : columns)
    all.push_back({.is_prose = listing.columns[column].is_prose, .is_chosen = are_chosen});
  return all;
}

void say_what_is_hidden(const Listing& listing, ColumnNumbers columns, const TableText& table) {
  if (table.is_shortened) message("names are shortened to fit; --format names or csv has them whole");
  if (table.left_out.empty()) return;
  std::string names;
  for (const std::size_t i : table.left_out)
    names += (names.empty() ? "" : ", ") + listing.columns[columns[i]].name;
  message(std::string("no room for the column") + (table.left_out.size() == 1 ? " " : "s ") + names +
          "; --columns chooses, and a wider terminal shows all");
}

void say_what_is_cut(const Listing& listing, std::size_t rows) {
  std::string_view noun = listing.noun;
  if (rows != 1) return message(std::to_string(rows) + " more " + listing.noun + "; --limit all shows them");
  const bool changes = noun.ends_with("ies");
  noun.remove_suffix(changes ? 3 : noun.ends_with('s') ? 1 : 0);
  message(std::string("1 more ").append(noun).append(changes ? "y" : "") + "; --limit all shows it");
}

std::string csv_heading(const Listing& listing, ColumnNumbers columns) {
  return csv_fields(columns, [&](std::size_t column) { return listing.columns[column].name; });
}

std::string csv_line(const Listing& listing, ColumnNumbers columns, std::size_t row) {
  return csv_fields(columns,
                    [&](std::size_t column) { return text_of(listing.cell(row, column), std::nullopt); });
}

std::string markdown_heading(const Listing& listing, ColumnNumbers columns) {
  std::string text =
      markdown_cells(columns, [&](std::size_t column) { return listing.columns[column].name; });
  text += "|";
  for (std::size_t i = 0; i < columns.size(); ++i) text += " --- |";
  return text + "\n";
}

std::string markdown_line(const Listing& listing, ColumnNumbers columns, std::size_t row) {
  return markdown_cells(columns, [&](std::size_t column) {
    return text_of(listing.cell(row, column), listing.columns[column].decimals);
  });
}

}  // namespace quarry::command
