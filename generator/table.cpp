#include "table.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string_view>
#include <unordered_map>

#include "operations/common/row.hpp"

namespace quarry::generator {
namespace {

/// FNV-1a: the same on every machine, so that an entry stays in its unit.
std::uint64_t stable_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

/// Rows of all families. Rows of one functional key stand together.
std::vector<TableRow> make_rows(const std::vector<Expansion>& expansions) {
  std::vector<TableRow> rows;
  for (std::size_t family = 0; family < expansions.size(); ++family) {
    const ConfigSpace& space = *expansions[family].space;
    for (const Config& config : expansions[family].configs) {
      const KernelMetadata kernel = space.describe(config.values, config.name);
      rows.push_back({.name = config.name,
                      .family = family,
                      .values = config.values,
                      .key = detail::functional_key(kernel),
                      .entry = 0,
                      .exchanged = false});
    }
  }
  std::ranges::stable_sort(rows, {}, &TableRow::key);
  return rows;
}

using EntryNumbers = std::unordered_map<std::string, std::size_t>;

/// Points each row at the other entries that its kernel may start.
void find_companions(Table& table, const EntryNumbers& numbers) {
  for (TableRow& row : table.rows) {
    const ConfigSpace& space = *table.families[row.family];
    for (const std::string& name : companion_names(space.describe(row.values, row.name))) {
      const auto found = numbers.find(name);
      row.companions.push_back(found == numbers.end() ? std::nullopt : std::optional(found->second));
    }
  }
}

/// Points each row at its entries, and makes each entry once.
void make_entries(Table& table) {
  EntryNumbers numbers;
  for (TableRow& row : table.rows) {
    const ConfigSpace& space = *table.families[row.family];
    const SettingValues values = space.entry(row.values);
    row.exchanged = is_exchanged(space, row.values);
    const auto [found, added] = numbers.try_emplace(config_name(space, values), table.entries.size());
    if (added) {
      table.entries.push_back(
          {.text = entry_text(space, values), .family = row.family, .group = space.unit_group(values)});
    }
    row.entry = found->second;
  }
  find_companions(table, numbers);
}

/// Whether an entry has machine code for one of the targets.
bool is_for(const TableEntry& entry, std::span<const int> targets) {
  return entry.text.only_cc == 0 || std::ranges::find(targets, entry.text.only_cc) != targets.end();
}

void choose_precompiled(Table& table, const Filter& precompile, std::span<const int> targets) {
  for (const TableRow& row : table.rows) {
    if (is_for(table.entries[row.entry], targets) &&
        precompile(table.families[row.family]->describe(row.values, row.name))) {
      table.entries[row.entry].precompiled = true;
    }
  }
}

/// What a precompiled kernel launches beside its own entry is precompiled, too.
void precompile_companions(Table& table) {
  std::vector<std::size_t> needed;
  for (const TableRow& row : table.rows) {
    if (!table.entries[row.entry].precompiled) continue;
    for (const std::optional<std::size_t>& companion : row.companions) {
      if (companion) needed.push_back(*companion);
    }
  }
  for (const std::size_t companion : needed) table.entries[companion].precompiled = true;
}

/// Into how many units a group is spread: a power of two that grows with the group, for 8 to 16 kernels a
/// unit. So a new config changes one unit, unless the group outgrows a power of two; then each of its units
/// is cut in two.
std::size_t buckets(std::size_t kernels) { return std::bit_ceil((kernels + 15) / 16); }

/// Spreads the precompiled entries over units.
void make_units(Table& table) {
  std::map<std::string, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < table.entries.size(); ++i) {
    const TableEntry& entry = table.entries[i];
    if (entry.precompiled)
      groups[entry.text.folder + (entry.group.empty() ? "" : "_" + entry.group)].push_back(i);
  }
  std::map<std::string, std::vector<std::size_t>> units;
  for (const auto& [group, entries] : groups) {
    for (const std::size_t i : entries) {
      const std::size_t bucket = stable_hash(table.entries[i].text.name) % buckets(entries.size());
      units[group + "_" + std::to_string(bucket)].push_back(i);
    }
  }
  for (auto& [name, entries] : units) {
    std::ranges::sort(entries, {},
                      [&](std::size_t i) -> const std::string& { return table.entries[i].text.name; });
    for (const std::size_t i : entries) table.entries[i].unit = table.units.size();
    const int only_cc = table.entries[entries.front()].text.only_cc;
    const bool differs =
        std::ranges::any_of(entries, [&](std::size_t i) { return table.entries[i].text.differs_by_target; });
    table.units.push_back({name, std::move(entries), only_cc, differs});
  }
}

}  // namespace

std::string TableUnit::file() const {
  if (only_cc != 0) return name + ".sm_" + architecture(only_cc, only_cc) + ".cu";
  return name + (differs_by_target ? ".each.cu" : ".cu");
}

Table make_table(const std::vector<Expansion>& expansions, const Filter& precompile,
                 std::span<const int> targets) {
  Table table;
  for (const Expansion& expansion : expansions) table.families.push_back(expansion.space);
  table.rows = make_rows(expansions);
  make_entries(table);
  choose_precompiled(table, precompile, targets);
  precompile_companions(table);
  make_units(table);
  return table;
}

}  // namespace quarry::generator
