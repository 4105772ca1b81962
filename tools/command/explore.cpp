/// quarry explore: the kernels as a page for a browser.
#include "quarry/explorer.hpp"

#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

struct ExploreFlags {
  SelectionFlags selection;
  std::string output;
};

int explore(const ExploreFlags& flags) {
  if (flags.output.empty())
    return report(Status(StatusCode::invalid_arguments, "where to? Give -o FILE.html, or -o - for a pipe"));
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  if (kernels->empty()) return report(Status(StatusCode::filtered_out, "no kernel passes the filter"));
  const std::string page = explorer_page(*kernels);
  if (flags.output == "-") {
    write_output(page);
    return done;
  }
  if (const Status status = write_file(flags.output, page); !status) return report(status);
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
                    "quarry explore --where 'operation == gemm and a.dtype == bf16' -o bf16.html"},
       .notes = "One HTML file that needs no network: a table of the kernels with filters of the filter "
                "language, sorting,\n"
                "a choice of columns, and all that is known of each kernel. Prints the path of the file."});
  add_selection_flags(*command, flags->selection);
  command->add_option("-o,--output", flags->output, "File to write; -: standard output")->type_name("FILE");
  command->callback([flags, &action] { action = [flags] { return explore(*flags); }; });
}

}  // namespace quarry::command
