/// quarry stats: how many kernels there are of which kind, and what they weigh.
#include <algorithm>
#include <map>
#include <set>

#include "quarry/code.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/kernel_columns.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

struct StatsFlags {
  SelectionFlags selection;
  ListingFlags listing;
  std::vector<std::string> by = {"family", "a.dtype", "b.dtype", "accumulator", "out.dtype"};
};

struct Counts {
  std::int64_t kernels = 0;
  std::int64_t precompiled = 0;
  /// The device functions that the kernels run, fewer than they are.
  std::set<std::string_view> entries = {};
};

using Group = std::pair<std::vector<Cell>, Counts>;

Result<std::vector<MetadataField>> read_fields(const std::vector<std::string>& paths) {
  std::vector<MetadataField> fields;
  for (const std::string& path : paths) {
    const Result<MetadataField> field = find_metadata_field(path);
    if (!field) return Status(field.status().code(), "--by: " + field.status().message());
    fields.push_back(*field);
  }
  return fields;
}

void add(Counts& counts, const Kernel& kernel) {
  ++counts.kernels;
  counts.precompiled += precompiled_at_all(kernel) ? 1 : 0;
  counts.entries.insert(entry_name(kernel));
}

/// Counts for each combination of values that occurs, in the order of the values.
std::vector<Group> count(const std::vector<Kernel>& kernels, const std::vector<MetadataField>& fields) {
  std::map<std::vector<Cell>, Counts> groups;
  for (const Kernel& kernel : kernels) {
    std::vector<Cell> values;
    for (const MetadataField& field : fields) values.push_back(field_cell(field, kernel.metadata()));
    add(groups[values], kernel);
  }
  return {groups.begin(), groups.end()};
}

/// Totals of the kernels, with the size of all device code that is embedded.
nlohmann::ordered_json totals(const std::vector<Kernel>& kernels) {
  Counts counts;
  for (const Kernel& kernel : kernels) add(counts, kernel);
  const PrecompiledCode code = precompiled_code();
  nlohmann::ordered_json object = {{"kernels", counts.kernels},
                                   {"precompiled_kernels", counts.precompiled},
                                   {"entries", counts.entries.size()},
                                   {"registered_entries", code.entries},
                                   {"precompiled_entries", code.precompiled},
                                   {"units", code.units},
                                   {"embedded_bytes", code.bytes}};
  if (code.precompiled > 0)
    object["embedded_bytes_per_entry"] =
        static_cast<double>(code.bytes) / static_cast<double>(code.precompiled);
  return object;
}

void print_totals(const nlohmann::ordered_json& totals) {
  std::string output = "\n";
  for (const auto& [name, value] : totals.items()) {
    const std::string label = name + std::string(26 - std::min<std::size_t>(26, name.size()), ' ');
    output += label + (value.is_number_float() ? text_of(value.get<double>(), 0) : value.dump()) + "\n";
  }
  write_output(output);
}

int stats(const StatsFlags& flags) {
  const auto fields = read_fields(flags.by);
  if (!fields) return report(fields.status());
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());

  const std::vector<Group> groups = count(*kernels, *fields);
  Listing listing{.noun = "groups",
                  .columns = {},
                  .rows = groups.size(),
                  .cell = [&](std::size_t row, std::size_t column) -> Cell {
                    const auto& [values, counts] = groups[row];
                    if (column < values.size()) return values[column];
                    switch (column - values.size()) {
                      case 0: return counts.kernels;
                      case 1: return static_cast<std::int64_t>(counts.entries.size());
                      default: return counts.precompiled;
                    }
                  },
                  .name_column = std::nullopt};
  for (const MetadataField& field : *fields) listing.columns.push_back({.name = std::string(field.name)});
  for (const char* name : {"kernels", "entries", "precompiled"}) listing.columns.push_back({.name = name});
  listing.head["totals"] = totals(*kernels);
  if (Status status = print(listing, flags.listing); !status) return report(status);
  if (flags.listing.format == Format::table) print_totals(listing.head["totals"]);
  return done;
}

}  // namespace

void add_stats(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<StatsFlags>();
  CLI::App* command = add_command(
      app, "stats",
      {.help = "Count kernels by metadata fields",
       .usage = "[NAME...] [FLAGS]",
       .examples = {"quarry stats", "quarry stats --by tile.m,tile.n --sort -kernels --limit 5",
                    "quarry stats --where 'family == gemm_sm80' --by a.layout,b.layout --format json"}});
  add_selection_flags(*command, flags->selection);
  command->add_option("--by", flags->by, "Fields to count by, separated by commas")
      ->delimiter(',')
      ->type_name("FIELD,...");
  add_listing_flags(*command, flags->listing);
  command->callback([flags, &action] { action = [flags] { return stats(*flags); }; });
}

}  // namespace quarry::command
