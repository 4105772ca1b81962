/// quarry cache: the kernels that were compiled on this machine and kept on disk.
#include <algorithm>
#include <ctime>

#include "lab/text.hpp"
#include "quarry/cache.hpp"
#include "quarry/version.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

struct CacheFlags {
  std::string action;
  ListingFlags listing;
};

std::int64_t signed_of(std::uint64_t number) { return static_cast<std::int64_t>(number); }

/// Absent where it is empty.
Cell text_cell(const std::string& text) { return text.empty() ? Cell() : Cell(text); }

/// "2025-11-21T07:38:00Z": sorts as the times do.
std::string utc_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  char text[40];
  if (gmtime_r(&time, &parts) == nullptr) return std::to_string(seconds);
  const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text, size};
}

/// A listing of one row, shown as one value a line.
int print_facts(const std::vector<std::pair<const char*, Cell>>& facts, const ListingFlags& flags) {
  Listing listing{.noun = "cache",
                  .columns = {},
                  .rows = 1,
                  .cell = [&](std::size_t, std::size_t column) { return facts[column].second; },
                  .name_column = std::nullopt};
  for (const auto& [name, value] : facts) listing.columns.push_back({.name = name});
  const Status printed = print_records(listing, flags);
  return printed ? static_cast<int>(done) : report(printed);
}

int info(const CacheInfo& cache, const ListingFlags& flags) {
  const std::string state = !cache.usable ? "not used" : cache.limit == 0 ? "off" : "used";
  return print_facts({{"folder", text_cell(cache.folder)},
                      {"state", state},
                      {"why", cache.usable ? Cell() : Cell(cache.usable.message())},
                      {"entries", signed_of(cache.entries)},
                      {"bytes", signed_of(cache.bytes)},
                      {"limit", signed_of(cache.limit)},
                      {"set_aside", signed_of(cache.set_aside)}},
                     flags);
}

int clear(const CacheInfo& cache, const ListingFlags& flags) {
  const Result<std::size_t> removed = clear_cache();
  if (!removed) return report(removed.status());
  if (flags.format != Format::table)
    return print_facts({{"folder", text_cell(cache.folder)}, {"removed", signed_of(*removed)}}, flags);
  write_output("removed " + counted(*removed, "entry") + " from " + lab::one_line(cache.folder) + "\n");
  return done;
}

/// The fault is a column of a table only where there is one.
Listing listing_of(const std::vector<CacheEntry>& entries, std::string noun) {
  const bool faults = !std::ranges::all_of(entries, [](const auto& entry) { return bool(entry.status); });
  const auto cell = [&entries](std::size_t row, std::size_t column) -> Cell {
    const CacheEntry& entry = entries[row];
    switch (column) {
      case 0: return entry.file;
      case 1: return text_cell(entry.entry);
      case 2: return entry.target == 0 ? Cell() : Cell(std::int64_t{entry.target});
      case 3: return text_cell(entry.compiler);
      case 4: return entry.version;
      case 5: return signed_of(entry.bytes);
      case 6: return utc_text(entry.last_used);
      default: return entry.status ? Cell() : Cell(entry.status.message());
    }
  };
  return {.noun = std::move(noun),
          .columns = {{.name = "file"},
                      {.name = "entry"},
                      {.name = "target"},
                      {.name = "compiler"},
                      {.name = "version", .in_table = false},
                      {.name = "bytes"},
                      {.name = "last_used"},
                      {.name = "fault", .in_table = faults}},
          .rows = entries.size(),
          .cell = cell};
}

int list(const CacheInfo& cache, const ListingFlags& flags) {
  const std::vector<CacheEntry> entries = cache_entries();
  Listing listing = listing_of(entries, "entries");
  listing.head["folder"] = cache.folder;
  const Status printed = print(listing, flags);
  return printed ? static_cast<int>(done) : report(printed);
}

/// "checked 12 entries: all good", or how many are not.
std::string verdict(std::size_t checked, std::size_t bad, std::size_t others) {
  std::string text =
      "checked " + counted(checked, "entry") + ": " + (bad == 0 ? "all good" : std::to_string(bad) + " bad");
  if (others > 0) text += "; " + std::to_string(others) + " of other versions not checked";
  return text;
}

int verify(const CacheInfo& cache, const ListingFlags& flags) {
  std::vector<CacheEntry> entries = cache_entries();
  const std::size_t all = entries.size();
  const std::size_t checked =
      all - std::erase_if(entries, [](const CacheEntry& entry) { return entry.version != QUARRY_VERSION; });
  std::erase_if(entries, [](const CacheEntry& entry) { return bool(entry.status); });

  Listing listing = listing_of(entries, "bad");
  for (const std::size_t column : {1U, 2U, 3U, 5U, 6U}) listing.columns[column].in_table = false;
  listing.head["folder"] = cache.folder;
  listing.head["checked"] = checked;
  listing.head["other_versions"] = all - checked;
  // No table where there is nothing to tell, but wrong flags are wrong all the same.
  if (!entries.empty() || flags.format != Format::table || !flags.columns.empty() || !flags.sort.empty()) {
    if (const Status printed = print(listing, flags); !printed) return report(printed);
  }
  message(verdict(checked, entries.size(), all - checked));
  return entries.empty() ? done : failed;
}

int cache(const CacheFlags& flags) {
  const CacheInfo found = cache_info();
  if (flags.action == "info") return info(found, flags.listing);
  if (!found.usable) return report(found.usable);
  if (flags.action == "list") return list(found, flags.listing);
  if (flags.action == "clear") return clear(found, flags.listing);
  return verify(found, flags.listing);
}

}  // namespace

void add_cache(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<CacheFlags>();
  CLI::App* command =
      add_command(app, "cache",
                  {.help = "Show, check or clear the compiled kernels that are kept on disk",
                   .usage = "info|list|verify|clear [FLAGS]",
                   .examples = {"quarry cache info", "quarry cache list --sort -bytes --limit 5",
                                "quarry cache verify --format json", "quarry cache clear"},
                   .notes = "The cache is in QUARRY_CACHE_DIR, else in $XDG_CACHE_HOME/quarry, else in "
                            "~/.cache/quarry. If it exceeds\n"
                            "QUARRY_CACHE_SIZE MiB (1024 unless set; 0: no cache), the least recently used "
                            "entries are removed.\n"
                            "`verify` names damaged entries; its exit status is then 1."});
  command->add_option("action", flags->action, "info, list, verify or clear")
      ->required()
      ->check(CLI::IsMember({"info", "list", "verify", "clear"}))
      ->type_name("ACTION");
  add_listing_flags(*command, flags->listing);
  command->callback([flags, &action] { action = [flags] { return cache(*flags); }; });
}

}  // namespace quarry::command
