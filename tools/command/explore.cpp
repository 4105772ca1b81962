/// quarry explore: the kernels as a page for a browser.
#include "quarry/explorer.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lab/output_file.hpp"
#include "lab/problems/problem_text.hpp"
#include "lab/text.hpp"
#include "lab/tune/recorded_times.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

struct ExploreFlags {
  SelectionFlags selection;
  std::string output;
  std::vector<std::string> maps = {"bf16:4096"};
  std::string times;
};

/// "bf16:4096".
Result<ExplorerMap> parse_map(std::string_view text) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const std::size_t colon = text.find(':');
  if (colon == text.npos)
    return Status(StatusCode::parse_error,
                  "--map: expected TYPE:K, such as bf16:4096, got " + lab::quoted(text));
  const Result<DType> type = parse_dtype(text.substr(0, colon));
  if (!type) return Status(StatusCode::parse_error, "--map: " + type.status().message());
  const Result<std::int64_t> k = lab::parse_integer("K", text.substr(colon + 1), 1, most);
  if (!k) return Status(StatusCode::parse_error, "--map: " + k.status().message());
  return ExplorerMap{*type, *k};
}

/// The maps that are asked for; "none" alone stands for no map.
Result<std::vector<ExplorerMap>> read_maps(const std::vector<std::string>& texts) {
  std::vector<ExplorerMap> maps;
  if (texts == std::vector<std::string>{"none"}) return maps;
  for (const std::string& text : texts) {
    const Result<ExplorerMap> map = parse_map(text);
    if (!map) return map.status();
    maps.push_back(*map);
  }
  return maps;
}

/// What `quarry bench --dump-times` wrote; nothing where no file is given.
Result<std::vector<ExplorerTime>> read_times(const std::string& path) {
  std::vector<ExplorerTime> times;
  if (path.empty()) return times;
  const Result<lab::RecordedFile> file = lab::read_recorded_times(path);
  if (!file) return file.status();
  if (file->is_cut) message("the last line of " + lab::quoted(path) + " is cut short: it was skipped");
  for (const auto& [problem, record] : file->problems) {
    for (const lab::KernelTime& time : record.kernels)
      times.push_back({problem, time.kernel, time.predicted_us.value_or(0), time.gaps_us[1]});
  }
  return times;
}

int explore(const ExploreFlags& flags) {
  if (flags.output.empty())
    return report(Status(StatusCode::invalid_arguments, "where to? Give -o FILE.html, or -o - for a pipe"));
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  if (kernels->empty()) return report(none_selected(flags.selection));
  const Result<std::vector<ExplorerMap>> maps = read_maps(flags.maps);
  if (!maps) return report(maps.status());
  const Result<std::vector<ExplorerTime>> times = read_times(flags.times);
  if (!times) return report(times.status());
  const std::string page = explorer_page(*kernels, {.maps = *maps, .times = *times});
  if (flags.output == "-") {
    write_output(page);
    return done;
  }
  if (const Status status = lab::write_file(flags.output, page); !status) return report(status);
  write_output(flags.output + "\n");
  return done;
}

}  // namespace

void add_explore(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ExploreFlags>();
  CLI::App* command = add_command(
      app, "explore",
      {.help = "Write a page of kernels to look through in a browser",
       .usage = "[NAME...] -o FILE [FLAGS]",
       .examples = {"quarry explore -o kernels.html",
                    "quarry explore --where 'operation == gemm and a.dtype == bf16' -o bf16.html",
                    "quarry explore --map bf16:4096 --map e4m3:7168 -o kernels.html"},
       .notes =
           "One HTML file that needs no network: a table of the kernels with filters of the filter "
           "language, sorting,\n"
           "a choice of columns, all that is known of each kernel, maps of the kernels that are chosen, and "
           "charts of times that\n"
           "`quarry bench --dump-times` wrote. Prints the path of the file."});
  add_selection_flags(*command, flags->selection);
  command->add_option("-o,--output", flags->output, "File to write; -: standard output")->type_name("FILE");
  command
      ->add_option("--map", flags->maps,
                   "Show which kernels are chosen over M and N, for GEMMs of a type and a K; `none`: no map")
      ->type_name("TYPE:K")
      ->allow_extra_args(false)
      ->capture_default_str();
  command->add_option("--times", flags->times, "Show the times that bench --dump-times wrote")
      ->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return explore(*flags); }; });
}

}  // namespace quarry::command
