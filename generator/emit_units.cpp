#include <sstream>

#include "emit.hpp"
#include "json_file.hpp"

namespace quarry::generator {

void emit_units(const Table& table, Files& files) {
  for (const TableUnit& unit : table.units) {
    std::vector<EntryText> entries;
    for (const std::size_t i : unit.entries) entries.push_back(table.entries[i].text);
    files["units/" + unit.file()] = "// Written by quarry_generate.\n" + instantiation(entries);
  }
}

std::string emit_embedding(const Table& table) {
  std::ostringstream out;
  out << "// Written by quarry_generate.\n    .section .rodata\n";
  for (const TableUnit& unit : table.units) {
    const std::string symbol = "quarry_unit_" + unit.name;
    out << "\n    .balign 16\n    .globl " << symbol << "_begin\n    .hidden " << symbol << "_begin\n"
        << symbol << "_begin:\n    .incbin \"" << unit.name << ".fatbin\"\n"
        << "    .globl " << symbol << "_end\n    .hidden " << symbol << "_end\n"
        << symbol << "_end:\n";
  }
  out << "\n    .section .note.GNU-stack, \"\", %progbits\n";
  return std::move(out).str();
}

std::string emit_manifest(const Table& table, std::string_view aot) {
  Json manifest = {{"schema_version", 1}, {"aot", aot}};
  for (const ConfigSpace* space : table.families) manifest["families"].push_back(space->family);
  for (const TableRow& row : table.rows) {
    Json& kernel = manifest["kernels"].emplace_back(Json::object());
    kernel = {
        {"name", row.name}, {"entry", table.entries[row.entry].text.name}, {"exchanged", row.exchanged}};
  }
  for (const TableEntry& entry : table.entries) {
    Json& json = manifest["entries"].emplace_back(Json::object());
    json = {{"name", entry.text.name}, {"unit", nullptr}};
    if (entry.unit) json["unit"] = table.units[*entry.unit].name;
    if (entry.text.only_cc != 0) json["only_cc"] = entry.text.only_cc;
  }
  manifest["units"] = Json::array();
  for (const TableUnit& unit : table.units) manifest["units"].push_back(unit.name);
  return manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace quarry::generator
