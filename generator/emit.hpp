/// Writes the table down: C++, units of device code, assembly that embeds them, a manifest.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "table.hpp"

namespace quarry::generator {

/// Text of each file, by its path below the output folder.
using Files = std::map<std::string, std::string>;

/// table.cpp: the definitions that operations/common/row.hpp declares, except facts that only the compiled
/// units tell.
std::string emit_table(const Table& table);

/// units/<file>, one for each unit (TableUnit::file).
void emit_units(const Table& table, Files& files);

/// embed.S: each unit's fatbin (`<name>.fatbin` on the assembler's include path) between two symbols.
std::string emit_embedding(const Table& table);

/// manifest.json: what was generated, for tools and for the step that reads the compiler's reports.
/// @param aot the filter expression that chose the precompiled kernels
std::string emit_manifest(const Table& table, std::string_view aot);

}  // namespace quarry::generator
