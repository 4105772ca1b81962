/// quarry_generate: from the families' spaces to the static table and the units of device code.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "emit.hpp"
#include "emit_sources.hpp"
#include "expand.hpp"
#include "files.hpp"
#include "resources.hpp"

namespace quarry::generator {
namespace {

constexpr std::string_view usage =
    R"(quarry_generate: expands the families' spaces into tables and device code.

  quarry_generate table --kernels DIR [--out DIR] [--aot FILTER] [--targets 80,90] [--explain]
      Reads DIR/<family>/space.json of every family and writes table.cpp, embed.S, manifest.json and units/*.cu below
      --out, but only what changed. --aot chooses the kernels to precompile ('true' is all, 'false' none; default: all;
      '@FILE': those whose names FILE lists, one a line, except lines that begin with #),
      among those that are for one of the --targets (default: 80,90).
      --explain prints each config that the axes make and that is not registered, and why.

  quarry_generate resources --manifest FILE --logs DIR --targets 80,90 --out FILE
      Reads what the compiler reported of each unit and writes it as a table.

  quarry_generate sources --kernels DIR --include DIR --out FILE [--depfile FILE]
      Writes the sources that device code is made of as a table, and which files these are for Make or Ninja.

Exit code: 0 done, 1 a file could not be read or written, 2 the input is wrong; nothing is written then.
)";

/// The values of `--name value` and `--flag`.
using Options = std::map<std::string_view, std::string_view>;

Result<Options> parse_options(std::span<const std::string_view> words,
                              std::span<const std::string_view> known) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::ranges::find(known, words[i]) == known.end()) {
      return Status(StatusCode::parse_error,
                    "unknown option " + detail::quoted(words[i]) + detail::did_you_mean(words[i], known));
    }
    const std::string_view name = words[i];
    if (name == "--explain") {
      options[name] = "";
    } else if (++i < words.size()) {
      options[name] = words[i];
    } else {
      return Status(StatusCode::parse_error, std::string(name) + " needs a value");
    }
  }
  return options;
}

Status require(const Options& options, std::span<const std::string_view> names) {
  for (const std::string_view name : names) {
    if (!options.contains(name)) return {StatusCode::parse_error, std::string(name) + " is missing"};
  }
  return {};
}

Result<std::vector<Expansion>> expand_all(const std::filesystem::path& kernels) {
  std::vector<Expansion> expansions;
  for (std::size_t i = 0; i < config_spaces().size(); ++i) {
    const ConfigSpace* const space = config_spaces()[i];
    if (const std::string fault = folder_fault(family_folders()[i], *space); !fault.empty())
      return Status(StatusCode::parse_error, fault);
    const Result<SpaceFile> file = read_space_file(*space, kernels / space->family / "space.json");
    if (!file) return file.status();
    Result<Expansion> expansion = expand(*file);
    if (!expansion) return expansion.status();
    expansions.push_back(*std::move(expansion));
  }
  return expansions;
}

void explain(const std::vector<Expansion>& expansions) {
  for (const Expansion& expansion : expansions) {
    std::printf("%s: %zu registered, %zu dropped\n", std::string(expansion.space->family).c_str(),
                expansion.configs.size(), expansion.dropped.size());
    for (const Dropped& dropped : expansion.dropped) {
      std::printf("  %s: %s\n", dropped.name.c_str(), dropped.reason.c_str());
    }
  }
}

/// "80,90"
Result<std::vector<int>> parse_targets(std::string_view text) {
  std::vector<int> targets;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    int target = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), target);
    if (error != std::errc() || end != word.data() + word.size()) break;
    targets.push_back(target);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  if (text.empty() && std::ranges::is_sorted(targets)) return targets;
  return Status(StatusCode::parse_error, "--targets: expected ascending numbers with commas between them");
}

/// The kernels of a list: --aot @FILE.
Result<std::set<std::string>> read_names(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Status(StatusCode::file_error, "--aot: cannot read " + detail::quoted(path));
  std::set<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') names.insert(line);
  }
  return names;
}

/// Fails for a list that names kernels which there are not.
Status check_names(const std::set<std::string>& names, std::span<const Expansion> expansions) {
  std::set<std::string_view> missing(names.begin(), names.end());
  for (const Expansion& expansion : expansions) {
    for (const auto& config : expansion.configs) missing.erase(config.name);
  }
  if (missing.empty()) return {};
  return {StatusCode::not_found, "--aot: the list names " + std::to_string(missing.size()) +
                                     " kernels that there are not, such as " +
                                     detail::quoted(*missing.begin()) +
                                     ": make it again (tools/earned.py --again LIST)"};
}

/// What --aot chooses: a filter expression, or the names of a list.
Result<Filter> parse_aot(std::string_view aot, std::span<const Expansion> expansions) {
  if (!aot.starts_with('@')) {
    Result<Filter> filter = Filter::parse(aot);
    if (!filter) return Status(StatusCode::parse_error, "--aot: " + filter.status().message());
    return filter;
  }
  Result<std::set<std::string>> names = read_names(std::string(aot.substr(1)));
  if (!names) return names.status();
  if (Status s = check_names(*names, expansions); !s) return s;
  return Filter([names = *std::move(names)](const KernelMetadata& kernel) {
    return names.contains(std::string(kernel.name));
  });
}

/// What the manifest says of --aot: of a list its name, wherever it lies.
std::string shown_aot(std::string_view aot) {
  if (!aot.starts_with('@')) return std::string(aot);
  return "@" + std::filesystem::path(aot.substr(1)).filename().string();
}

Status run_table(std::span<const std::string_view> words) {
  constexpr std::string_view known[] = {"--kernels", "--out", "--aot", "--targets", "--explain"};
  const Result<Options> options = parse_options(words, known);
  if (!options) return options.status();
  if (Status ok = require(*options, std::span(known).first(1)); !ok) return ok;
  const std::string_view aot = options->contains("--aot") ? options->at("--aot") : "true";
  const Result<std::vector<int>> targets =
      parse_targets(options->contains("--targets") ? options->at("--targets") : "80,90");
  if (!targets) return targets.status();
  const Result<std::vector<Expansion>> expansions = expand_all(options->at("--kernels"));
  if (!expansions) return expansions.status();
  const Result<Filter> precompile = parse_aot(aot, *expansions);
  if (!precompile) return precompile.status();
  if (options->contains("--explain")) explain(*expansions);
  if (!options->contains("--out")) return {};
  const Table table = make_table(*expansions, *precompile, *targets);
  Files files = {{"table.cpp", emit_table(table)},
                 {"embed.S", emit_embedding(table)},
                 {"manifest.json", emit_manifest(table, shown_aot(aot))}};
  emit_units(table, files);
  if (Status ok = write_files(options->at("--out"), files); !ok) return ok;
  std::size_t compiled = 0;
  for (const TableEntry& entry : table.entries) compiled += entry.precompiled ? 1 : 0;
  std::printf("%zu kernels run by %zu entries, %zu of them precompiled in %zu units\n", table.rows.size(),
              table.entries.size(), compiled, table.units.size());
  return {};
}

Status run_resources(std::span<const std::string_view> words) {
  constexpr std::string_view known[] = {"--manifest", "--logs", "--targets", "--out"};
  const Result<Options> options = parse_options(words, known);
  if (!options) return options.status();
  if (Status ok = require(*options, known); !ok) return ok;
  const Result<std::vector<int>> targets = parse_targets(options->at("--targets"));
  if (!targets) return targets.status();
  const Result<std::string> text = emit_resources(options->at("--manifest"), options->at("--logs"), *targets);
  if (!text) return text.status();
  return write_if_changed(options->at("--out"), *text);
}

Status run_sources(std::span<const std::string_view> words) {
  constexpr std::string_view known[] = {"--kernels", "--include", "--out", "--depfile"};
  const Result<Options> options = parse_options(words, known);
  if (!options) return options.status();
  if (Status ok = require(*options, std::span(known).first(3)); !ok) return ok;
  const std::filesystem::path out = options->at("--out");
  const Result<EmbeddedSources> sources = emit_sources(options->at("--kernels"), options->at("--include"));
  if (!sources) return sources.status();
  if (Status ok = write_if_changed(out, sources->text); !ok) return ok;
  if (!options->contains("--depfile")) return {};
  return write_if_changed(options->at("--depfile"), emit_depfile(out, sources->files));
}

int run(std::span<const std::string_view> words) {
  if (words.empty() || words[0] == "--help") {
    std::fputs(std::string(usage).c_str(), words.empty() ? stderr : stdout);
    return words.empty() ? 2 : 0;
  }
  Status status(StatusCode::parse_error,
                "expected `table`, `resources` or `sources`, got " + detail::quoted(words[0]));
  if (words[0] == "table") status = run_table(words.subspan(1));
  if (words[0] == "resources") status = run_resources(words.subspan(1));
  if (words[0] == "sources") status = run_sources(words.subspan(1));
  if (status) return 0;
  // What a file holds may be anything.
  std::fprintf(stderr, "quarry_generate: %s\n", detail::printable(status.message()).c_str());
  return status.code() == StatusCode::parse_error ? 2 : 1;
}

}  // namespace
}  // namespace quarry::generator

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  return quarry::generator::run(words);
}
