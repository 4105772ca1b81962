/// The model of the static table: what the generator writes down in C++.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "entry_text.hpp"
#include "expand.hpp"

namespace quarry::generator {

/// One device function.
struct TableEntry {
  EntryText text;
  /// Index of its family; absent for an auxiliary entry, which has no row.
  std::optional<std::size_t> family = {};
  /// Entries of one group share units.
  std::string group = {};
  /// Chosen to be precompiled, and the index of its unit then.
  bool precompiled = false;
  std::optional<std::size_t> unit = {};
};

/// One registered kernel.
struct TableRow {
  std::string name;
  std::size_t family;
  SettingValues values;
  std::uint64_t key;  ///< functional key
  std::size_t entry;
  bool exchanged;
  /// The entries of companion_names; absent what no family of this build has.
  std::vector<std::optional<std::size_t>> companions = {};
};

/// One compilation unit: entries of one folder and group.
struct TableUnit {
  std::string name;
  std::vector<std::size_t> entries;
  /// EntryText::only_cc of all of them.
  int only_cc = 0;
  /// EntryText::differs_by_target of any of them.
  bool differs_by_target = false;

  /// Its file among the units, which says how it is compiled: <name>.cu, <name>.sm_90a.cu for that alone,
  /// <name>.each.cu for each target by itself.
  std::string file() const;
};

struct Table {
  std::vector<const ConfigSpace*> families;
  std::vector<TableRow> rows;       ///< sorted by functional key
  std::vector<TableEntry> entries;  ///< in the order of the rows that first run them
  std::vector<TableUnit> units;     ///< sorted by name
};

/// @param precompile which rows' entries are compiled
/// @param targets compute capabilities to compile for: entries that are for none of them are not
Table make_table(const std::vector<Expansion>& expansions, const Filter& precompile,
                 std::span<const int> targets);

}  // namespace quarry::generator
