#include "tools/command/common/table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <numeric>

#include "lab/text.hpp"
#include "tools/command/common/listing_parts.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/table_text.hpp"

namespace quarry::command {
namespace {

constexpr std::size_t terminal_rows = 20;
constexpr std::size_t all_rows = std::numeric_limits<std::size_t>::max();

/// What is left of a listing after the flags: columns by number, rows by number and in order.
struct Selected {
  std::vector<std::size_t> columns;
  std::vector<std::size_t> rows;
  std::size_t hidden = 0;
  /// The user named the columns.
  bool are_chosen = false;
};

/// Absent values are last, whichever way the rest is sorted.
bool comes_before(const Cell& a, const Cell& b, bool downwards) {
  const bool a_absent = std::holds_alternative<std::monostate>(a);
  const bool b_absent = std::holds_alternative<std::monostate>(b);
  if (a_absent || b_absent) return b_absent && !a_absent;
  return downwards ? b < a : a < b;
}

Status sort_rows(const Listing& listing, std::string_view key, std::vector<std::size_t>& rows) {
  const bool downwards = key.starts_with('-');
  const Result<std::size_t> column = column_number(listing, key.substr(downwards ? 1 : 0));
  if (!column) return column.status();
  std::vector<Cell> cells(listing.rows);
  for (std::size_t row = 0; row < listing.rows; ++row) cells[row] = listing.cell(row, *column);
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return comes_before(cells[a], cells[b], downwards); });
  return {};
}

/// Leaves of each group of rows the first ones, so many at most.
void cut_groups(const Listing& listing, std::size_t limit, std::vector<std::size_t>& rows) {
  std::map<std::size_t, std::size_t> kept;
  std::erase_if(rows, [&](std::size_t row) { return ++kept[listing.group_of(row)] > limit; });
}

Result<Selected> select(const Listing& listing, const ListingFlags& flags) {
  Result<std::vector<std::size_t>> columns = chosen_columns(listing, flags);
  if (!columns) return columns.status();
  Selected selected{.columns = *std::move(columns),
                    .rows = std::vector<std::size_t>(listing.rows),
                    .are_chosen = !flags.columns.empty()};
  std::iota(selected.rows.begin(), selected.rows.end(), std::size_t{0});
  // Stable sorts from the least important key to the most important one.
  for (std::size_t i = flags.sort.size(); i-- > 0;) {
    if (Status sorted = sort_rows(listing, flags.sort[i], selected.rows); !sorted) return sorted;
  }
  const std::size_t limit = row_limit(flags);
  if (listing.group_of) {
    cut_groups(listing, limit, selected.rows);
  } else if (selected.rows.size() > limit) {
    selected.hidden = selected.rows.size() - limit;
    selected.rows.resize(limit);
  }
  return selected;
}

void print_table(const Listing& listing, const Selected& selected) {
  std::vector<std::vector<TableCell>> lines = {heading(listing, selected.columns)};
  for (const std::size_t row : selected.rows) lines.push_back(table_line(listing, selected.columns, row));
  // A heading stands over the side where its values do.
  for (std::size_t i = 0; i < lines[0].size() && lines.size() > 1; ++i)
    lines[0][i].is_number = lines[1][i].is_number;

  const TableText table =
      table_text(lines, table_columns(listing, selected.columns, selected.are_chosen), output_width());
  write_output(table.text);
  say_what_is_hidden(listing, selected.columns, table);
}

void print_csv(const Listing& listing, const Selected& selected) {
  write_output(csv_heading(listing, selected.columns));
  for (const std::size_t row : selected.rows) write_output(csv_line(listing, selected.columns, row));
}

nlohmann::ordered_json json_value(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return nullptr;
        } else {
          return value;
        }
      },
      cell);
}

void print_listing_json(const Listing& listing, const Selected& selected) {
  nlohmann::ordered_json document = json_document();
  document.update(listing.head);
  nlohmann::ordered_json& rows = document[listing.noun] = nlohmann::ordered_json::array();
  for (const std::size_t row : selected.rows) {
    nlohmann::ordered_json& object = rows.emplace_back(nlohmann::ordered_json::object());
    for (const std::size_t column : selected.columns) {
      object[listing.columns[column].name] = json_value(listing.cell(row, column));
    }
  }
  print_json(document);
}

void print_names(const Listing& listing, const Selected& selected) {
  std::string output;
  for (const std::size_t row : selected.rows) {
    output += text_of(listing.cell(row, *listing.name_column), std::nullopt);
    output += '\n';
  }
  write_output(output);
}

void print_record_tables(const Listing& listing, const Selected& selected) {
  std::size_t width = 0;
  for (const std::size_t column : selected.columns)
    width = std::max(width, width_of(listing.columns[column].name));
  std::string output;
  for (const std::size_t row : selected.rows) {
    if (!output.empty()) output += '\n';
    for (const std::size_t column : selected.columns) {
      std::string text = text_of(listing.cell(row, column), listing.columns[column].decimals);
      if (text.empty() && !selected.are_chosen) continue;
      if (text.empty()) text = "-";
      append_padded(output, listing.columns[column].name, width + 2, false);
      output += lab::one_line(text) + '\n';
    }
  }
  write_output(output);
}

void print_markdown(const Listing& listing, const Selected& selected) {
  write_output(markdown_heading(listing, selected.columns));
  for (const std::size_t row : selected.rows) write_output(markdown_line(listing, selected.columns, row));
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// A number of rows, or "all".
std::size_t parse_limit(const std::string& text) {
  if (text == "all") return all_rows;
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit == 0) {
    throw CLI::ValidationError("--limit",
                               "expected a number of rows from 1, or `all`, got " + lab::quoted(text));
  }
  return limit;
}

Format parse_format(const std::string& text) {
  constexpr std::string_view words[] = {"table", "json", "csv", "names", "markdown"};
  for (std::size_t i = 0; i < std::size(words); ++i) {
    if (words[i] == text) return static_cast<Format>(i);
  }
  throw CLI::ValidationError("--format", "expected " + lab::join(words, "or") + ", got " + lab::quoted(text));
}

std::string exact(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, error == std::errc() ? end : buffer};
}

Status print(const Listing& listing, const ListingFlags& flags,
             void (*print_as_table)(const Listing&, const Selected&)) {
  if (flags.format == Format::names && !listing.name_column) {
    return Status(
        StatusCode::invalid_arguments,
        "--format names: " + listing.noun + (listing.noun.ends_with('s') ? " have" : " has") + " no names");
  }
  const Result<Selected> selected = select(listing, flags);
  if (!selected) return selected.status();
  switch (flags.format) {
    case Format::table: print_as_table(listing, *selected); break;
    case Format::json: print_listing_json(listing, *selected); break;
    case Format::csv: print_csv(listing, *selected); break;
    case Format::names: print_names(listing, *selected); break;
    case Format::markdown: print_markdown(listing, *selected); break;
  }
  if (selected->hidden > 0 && flags.format == Format::table && !flags.limit) {
    say_what_is_cut(listing, selected->hidden);
  }
  return {};
}

}  // namespace

std::string text_of(const Cell& cell, std::optional<int> decimals) {
  if (const bool* truth = std::get_if<bool>(&cell)) {
    if (!decimals) return *truth ? "true" : "false";
    return *truth ? "yes" : "no";
  }
  if (const std::int64_t* integer = std::get_if<std::int64_t>(&cell)) return std::to_string(*integer);
  if (const double* real = std::get_if<double>(&cell))
    return decimals ? lab::rounded(*real, *decimals) : exact(*real);
  if (const std::string* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

std::size_t row_limit(const ListingFlags& flags) {
  const bool short_table = flags.format == Format::table && output_is_terminal();
  return flags.limit.value_or(short_table ? terminal_rows : all_rows);
}

void add_listing_flags(CLI::App& app, ListingFlags& flags) {
  app.add_option_function<std::string>(
         "--columns", [&flags](const std::string& text) { flags.columns = split(text); },
         "Columns to show, separated by commas")
      ->type_name("NAME,...");
  app.add_option_function<std::string>(
         "--sort", [&flags](const std::string& text) { flags.sort = split(text); },
         "Columns to sort by; a leading '-' sorts downwards")
      ->type_name("[-]NAME,...");
  app.add_option_function<std::string>(
         "--limit", [&flags](const std::string& text) { flags.limit = parse_limit(text); },
         "Rows at most, or `all` (a table on a terminal: 20)")
      ->type_name("N");
  app.add_option_function<std::string>(
         "--format", [&flags](const std::string& text) { flags.format = parse_format(text); },
         "table, json, csv, names (one a line) or markdown")
      ->type_name("FORMAT");
}

Status print(const Listing& listing, const ListingFlags& flags) { return print(listing, flags, print_table); }

Status check_listing(const ListingFlags& flags, const std::vector<Column>& columns) {
  return select({.noun = "", .columns = columns, .rows = 0, .cell = {}}, flags).status();
}

Status print_records(const Listing& listing, const ListingFlags& flags) {
  return print(listing, flags, print_record_tables);
}

nlohmann::ordered_json json_document() { return {{"schema_version", schema_version}}; }

void print_json(const nlohmann::ordered_json& document) {
  write_output(document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  write_output("\n");
}

}  // namespace quarry::command
