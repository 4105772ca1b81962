#include <algorithm>
#include <numeric>
#include <sstream>

#include "emit.hpp"
#include "operations/common/row.hpp"

namespace quarry::generator {
namespace {

constexpr std::string_view note = "// Written by quarry_generate.\n";

/// "  0, 1, 2,\n" with so many numbers a line.
void write_numbers(std::ostream& out, const std::vector<std::size_t>& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) out << (i % 20 == 0 ? "\n    " : " ") << numbers[i] << ",";
}

void write_head(std::ostream& out, const Table& table) {
  out << note << "#include <array>\n\n#include \"operations/common/row.hpp\"\n";
  for (const ConfigSpace* space : table.families)
    out << "#include \"" << space->family << "/describe.hpp\"\n";
  out << "\nextern \"C\" {\n";
  for (const TableUnit& unit : table.units) {
    out << "extern const unsigned char quarry_unit_" << unit.name << "_begin[];\n"
        << "extern const unsigned char quarry_unit_" << unit.name << "_end[];\n";
  }
  out << "}\n\n";
  for (const ConfigSpace* space : table.families) {
    out << "namespace quarry::" << space->family << " {\nextern const Family& family;\n}\n";
  }
  out << "\nnamespace quarry::detail {\nnamespace {\n\n";
  for (const ConfigSpace* space : table.families) {
    out << "const Family& " << space->family << "_family() { return " << space->family << "::family; }\n";
  }
}

/// The configs of the device code, an array for each family. Gives each entry's place in its array.
std::vector<std::size_t> write_configs(std::ostream& out, const Table& table) {
  std::vector<std::size_t> places(table.entries.size());
  for (std::size_t family = 0; family < table.families.size(); ++family) {
    const std::string_view name = table.families[family]->family;
    out << "\nconstexpr " << name << "::Config " << name << "_configs[] = {\n";
    std::size_t place = 0;
    for (std::size_t i = 0; i < table.entries.size(); ++i) {
      if (table.entries[i].family != family) continue;
      out << "    " << table.entries[i].text.config_literal << ",\n";
      places[i] = place++;
    }
    out << "};\n";
  }
  return places;
}

/// ", {7, no_entry}": Row::companions, "" where there are none.
std::string companions_of(const TableRow& row) {
  if (row.companions.empty()) return "";
  std::string text;
  for (std::size_t i = 0; i < detail::most_companions; ++i) {
    const bool is_there = i < row.companions.size() && row.companions[i];
    text += (i == 0 ? "" : ", ") + (is_there ? std::to_string(*row.companions[i]) : "no_entry");
  }
  return ", {" + text + "}";
}

void write_rows(std::ostream& out, const Table& table, const std::vector<std::size_t>& places) {
  out << "\nconstinit const std::array<Row, " << table.rows.size() << "> row_table = {{\n";
  for (const TableRow& row : table.rows) {
    const ConfigSpace& space = *table.families[row.family];
    out << "    {" << space.family << "::describe(" << space.literal(row.values) << ", \"" << row.name
        << "\"), {" << space.family << "_family}, &" << space.family << "_configs[" << places[row.entry]
        << "], " << row.entry << ", " << (row.exchanged ? "true" : "false") << companions_of(row) << "},\n";
  }
  out << "}};\n";
}

void write_entries_and_units(std::ostream& out, const Table& table) {
  out << "\nconstinit const std::array<Entry, " << table.entries.size() << "> entry_table = {{\n";
  for (const TableEntry& entry : table.entries) {
    out << "    {\"" << entry.text.name << "\", " << (entry.unit ? std::to_string(*entry.unit) : "-1")
        << "},\n";
  }
  out << "}};\n\nconstinit const std::array<Unit, " << table.units.size() << "> unit_table = {{\n";
  for (const TableUnit& unit : table.units) {
    out << "    {quarry_unit_" << unit.name << "_begin, quarry_unit_" << unit.name << "_end},\n";
  }
  out << "}};\n";
}

void write_key_ranges(std::ostream& out, const Table& table) {
  std::ostringstream lines;
  std::size_t ranges = 0;
  for (std::size_t begin = 0, end = 0; begin < table.rows.size(); begin = end, ++ranges) {
    while (end < table.rows.size() && table.rows[end].key == table.rows[begin].key) ++end;
    lines << "    {" << table.rows[begin].key << "U, " << begin << ", " << end << "},\n";
  }
  out << "\nconstinit const std::array<KeyRange, " << ranges << "> key_range_table = {{\n"
      << lines.str() << "}};\n";
}

const std::string& name_of(const TableRow& row) { return row.name; }
const std::string& name_of(const TableEntry& entry) { return entry.text.name; }

/// Numbers of the elements in the order of their names.
template <class Element>
void write_names(std::ostream& out, std::string_view what, const std::vector<Element>& elements) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) -> const std::string& { return name_of(elements[i]); });
  out << "\nconstinit const std::array<std::uint32_t, " << order.size() << "> " << what << " = {{";
  write_numbers(out, order);
  out << "\n}};\n";
}

}  // namespace

std::string emit_table(const Table& table) {
  std::ostringstream out;
  write_head(out, table);
  write_rows(out, table, write_configs(out, table));
  write_entries_and_units(out, table);
  write_key_ranges(out, table);
  write_names(out, "row_names", table.rows);
  write_names(out, "entry_names", table.entries);
  out << R"(
}  // namespace

std::span<const Row> rows() { return row_table; }
std::span<const Entry> entries() { return entry_table; }
std::span<const Unit> units() { return unit_table; }
std::span<const KeyRange> key_ranges() { return key_range_table; }
std::span<const std::uint32_t> rows_by_name() { return row_names; }
std::span<const std::uint32_t> entries_by_name() { return entry_names; }

}  // namespace quarry::detail
)";
  return std::move(out).str();
}

}  // namespace quarry::generator
