/// quarry show: everything that is known of a kernel.
#include <algorithm>

#include "commands.hpp"
#include "kernel_columns.hpp"
#include "occupancy.hpp"
#include "output.hpp"
#include "registry/row.hpp"
#include "selection.hpp"
#include "table.hpp"

namespace quarry::command {
namespace {

struct ShowFlags {
  SelectionFlags selection;
  ListingFlags listing;
};

/// What is shown of a kernel for each target that it could be compiled for.
constexpr std::string_view target_columns[] = {"precompiled", "registers", "spill_bytes", "blocks",
                                               "occupancy"};

/// The built-in model that stands for a compute capability.
const DeviceModel* model_for(int cc) {
  const auto models = device_models();
  const auto found = std::ranges::find(models, cc, &DeviceModel::cc);
  return found == models.end() ? nullptr : &*found;
}

/// The compute capabilities that there are models of.
std::vector<int> targets() {
  std::vector<int> all;
  for (const DeviceModel& model : device_models()) {
    if (std::ranges::find(all, model.cc) == all.end()) all.push_back(model.cc);
  }
  return all;
}

/// Column `column` of target_columns; absent where the kernel does not run on the target, and where it was
/// not compiled.
Cell target_cell(const Kernel& kernel, int cc, std::size_t column) {
  const KernelMetadata& metadata = kernel.metadata();
  if (metadata.cc > cc || metadata.max_cc.value_or(cc) < cc) return {};
  const DeviceModel& device = *model_for(cc);
  const detail::Resources compiled = detail::resources(kernel.row().entry, cc);
  const BlockNeeds block{metadata.design.threads, compiled.registers, metadata.design.shared_memory};
  const int blocks = blocks_per_multiprocessor(block, device);
  const auto if_compiled = [&](int value) {
    return compiled.registers > 0 ? Cell(std::int64_t{value}) : Cell();
  };
  switch (column) {
    case 0: return kernel.precompiled(cc);
    case 1: return if_compiled(compiled.registers);
    case 2: return if_compiled(compiled.spill_bytes);
    case 3: return std::int64_t{blocks};
    default: return occupancy(blocks, block, device);
  }
}

int show(const ShowFlags& flags) {
  if (flags.selection.names.empty() && flags.selection.where.empty()) {
    return report(Status(StatusCode::invalid_arguments, "which kernel? Give its name, or --where"));
  }
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());

  std::vector<Column> columns = kernel_columns();
  const std::size_t kernel_columns = columns.size();
  const std::vector<int> all_targets = targets();
  for (const int cc : all_targets) {
    for (const std::string_view name : target_columns) {
      columns.push_back({.name = "sm_" + std::to_string(cc) + "." + std::string(name)});
    }
  }
  // A record has room for every field.
  for (Column& column : columns) column.in_table = true;
  const auto cell = [&](std::size_t row, std::size_t column) {
    if (column < kernel_columns) return kernel_cell((*kernels)[row], column);
    const std::size_t number = column - kernel_columns;
    return target_cell((*kernels)[row], all_targets[number / std::size(target_columns)],
                       number % std::size(target_columns));
  };
  const Status printed = print_records(
      {.noun = "kernels", .columns = columns, .rows = kernels->size(), .cell = cell}, flags.listing);
  if (!printed) return report(printed);
  if (!kernels->empty()) return done;
  message("no kernel passes the filter");
  return failed;
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = add_command(
      app, "show",
      {.help = "Show everything that is known of a kernel",
       .usage = "NAME... [FLAGS]",
       .examples = {"quarry list --limit 1 --format names | quarry show -",
                    "quarry find gemm 512x512x512 f16 --limit 2 --format names | quarry show - --format json",
                    "quarry show --where 'family == gemm_simt' --limit 2 --columns "
                    "name,threads,sm_90.registers,sm_90.occupancy"},
       .notes = "`-` reads names from standard input. Occupancy is a bound, by threads, shared memory and, "
                "where it was compiled,\n"
                "registers; sm_80 stands for the A100, sm_90 for the H100 and H200."});
  add_selection_flags(*command, flags->selection);
  add_listing_flags(*command, flags->listing);
  command->callback([flags, &action] { action = [flags] { return show(*flags); }; });
}

}  // namespace quarry::command
