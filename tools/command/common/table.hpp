/// Listings: rows and columns as a table for people, or as JSON, CSV, plain names or Markdown for programs.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::command {

/// One value of a listing; the first alternative is an absent one.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Column {
  std::string name;
  /// Of a metadata field: its full path, any end of which (after a point) names the column, too.
  std::string path = {};
  /// Part of a table when nobody chooses columns; the other formats then have every column.
  bool in_table = true;
  /// Digits behind the point in a table; the other formats are exact.
  int decimals = 2;
  /// Sentences, which a table on a narrow terminal breaks into lines.
  bool is_prose = false;
};

enum class Format { table, json, csv, names, markdown };

/// What the user asked of a listing.
struct ListingFlags {
  Format format = Format::table;
  /// Empty: the listing's own choice.
  std::vector<std::string> columns;
  /// Columns to sort by, the most important first; a leading '-' sorts downwards.
  std::vector<std::string> sort;
  /// Rows at most; absent: 20 on a terminal, all of them elsewhere. `--limit all` makes it SIZE_MAX.
  std::optional<std::size_t> limit;
};

/// Adds --columns, --sort, --limit and --format to a command.
void add_listing_flags(CLI::App& app, ListingFlags& flags);

/// Rows that the flags allow.
std::size_t row_limit(const ListingFlags& flags);

/// What can be listed. Cells are asked for only where they are needed.
struct Listing {
  /// What the rows are, in the plural: the key of the rows in JSON.
  std::string noun;
  std::vector<Column> columns;
  std::size_t rows = 0;
  std::function<Cell(std::size_t row, std::size_t column)> cell;
  /// Where there is one, --limit holds for the rows of each group, by the group's number.
  std::function<std::size_t(std::size_t row)> group_of = {};
  /// The column that `--format names` prints, or none.
  std::optional<std::size_t> name_column = 0;
  /// More members of the JSON document, in front of the rows.
  nlohmann::ordered_json head = nlohmann::ordered_json::object();
};

/// Prints the listing. Fails, with nothing printed, on an unknown column (with the nearest ones).
Status print(const Listing& listing, const ListingFlags& flags);

/// The same, but where a table is asked for, each row is one of its own with a line for each value that is
/// there, or for each column that the user named.
Status print_records(const Listing& listing, const ListingFlags& flags);

/// Fails as these do where the flags name a column that is not there: asked before work whose results would
/// be lost.
Status check_listing(const ListingFlags& flags, const std::vector<Column>& columns);

/// A cell as text: numbers with `decimals` digits behind the point, or exactly where that is absent.
std::string text_of(const Cell& cell, std::optional<int> decimals);

/// Version of all JSON that the command prints, as its member `schema_version`.
inline constexpr int schema_version = 1;

/// A JSON document that starts with schema_version.
nlohmann::ordered_json json_document();

/// Prints a JSON document. Text that is not UTF-8 is replaced, never fatal.
void print_json(const nlohmann::ordered_json& document);

}  // namespace quarry::command
