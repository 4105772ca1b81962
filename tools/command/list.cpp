/// quarry list: registered kernels, or the fields that can be asked of them.
#include "lab/docs/fields_page.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/kernel_columns.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

struct ListFlags {
  SelectionFlags selection;
  ListingFlags listing;
  bool fields = false;
};

Status list_fields(const ListFlags& all) {
  if (!all.selection.names.empty() || !all.selection.where.empty())
    return {StatusCode::parse_error,
            std::string(all.selection.where.empty() ? "a kernel's name" : "--where") +
                " does not go with --fields"};
  const ListingFlags& flags = all.listing;
  if (flags.format == Format::markdown) {
    write_output(lab::fields_page());
    return {};
  }
  const auto fields = metadata_fields();
  const auto cell = [&](std::size_t row, std::size_t column) -> Cell {
    const MetadataField& field = fields[row];
    switch (column) {
      case 0: return std::string(field.name);
      case 1: return std::string(field.path);
      case 2: return std::string(to_string(field.type));
      default: return std::string(field.help);
    }
  };
  return print(
      {.noun = "fields",
       .columns = {{.name = "name"}, {.name = "path"}, {.name = "type"}, {.name = "help", .is_prose = true}},
       .rows = fields.size(),
       .cell = cell},
      flags);
}

Status list_kernels(const ListFlags& flags) {
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return kernels.status();
  return print(
      {.noun = "kernels",
       .columns = kernel_columns(),
       .rows = kernels->size(),
       .cell = [&](std::size_t row, std::size_t column) { return kernel_cell((*kernels)[row], column); }},
      flags.listing);
}

int list(const ListFlags& flags) {
  const Status status = flags.fields ? list_fields(flags) : list_kernels(flags);
  return status ? static_cast<int>(done) : report(status);
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ListFlags>();
  CLI::App* command = add_command(
      app, "list",
      {.help = "List registered kernels",
       .usage = "[NAME...] [FLAGS]",
       .examples = {"quarry list --where 'cc == 80 and a.dtype == bf16 and tile.m >= 128'",
                    "quarry list --columns name,tile.m,tile.n,stages --sort -tile.m,stages --limit 5",
                    "quarry list --format csv", "quarry list --fields"},
       .notes = "Without names all kernels are listed; `-` reads names from standard input."});
  add_selection_flags(*command, flags->selection);
  add_listing_flags(*command, flags->listing);
  command->add_flag("--fields", flags->fields,
                    "List the metadata fields instead: what filters and columns can name");
  command->callback([flags, &action] { action = [flags] { return list(*flags); }; });
}

}  // namespace quarry::command
