/// What listings are made of, for those that print whole (table.cpp) and those that grow
/// (growing_listing.cpp).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command/common/table.hpp"
#include "tools/command/common/table_text.hpp"

namespace quarry::command {

/// Columns of a listing by number.
using ColumnNumbers = std::span<const std::size_t>;

/// The column of a name. Fails with the nearest ones.
Result<std::size_t> column_number(const Listing& listing, std::string_view name);

/// The columns that the flags ask for. Fails as column_number does.
Result<std::vector<std::size_t>> chosen_columns(const Listing& listing, const ListingFlags& flags);

/// Lines of a table (table_text). Where a cell is absent, a line has a dash.
std::vector<TableCell> heading(const Listing& listing, ColumnNumbers columns);
std::vector<TableCell> table_line(const Listing& listing, ColumnNumbers columns, std::size_t row);
/// @param are_chosen the user named the columns
std::vector<TableColumn> table_columns(const Listing& listing, ColumnNumbers columns, bool are_chosen);

/// Says, as a message, what a table has no room for.
void say_what_is_hidden(const Listing& listing, ColumnNumbers columns, const TableText& table);

/// Says how many rows --limit left out where nobody gave it.
void say_what_is_cut(const Listing& listing, std::size_t rows);

/// Lines of the other formats, each with its newline.
std::string csv_heading(const Listing& listing, ColumnNumbers columns);
std::string csv_line(const Listing& listing, ColumnNumbers columns, std::size_t row);
std::string markdown_heading(const Listing& listing, ColumnNumbers columns);
std::string markdown_line(const Listing& listing, ColumnNumbers columns, std::size_t row);

}  // namespace quarry::command
