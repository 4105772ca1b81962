/// quarry show: everything that is known of a kernel.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "commands.hpp"
#include "kernel_columns.hpp"
#include "occupancy.hpp"
#include "operations/common/row.hpp"
#include "output.hpp"
#include "pack_targets.hpp"
#include "registry/compile/known_resources.hpp"
#include "registry/operation.hpp"
#include "selection.hpp"
#include "show_code.hpp"
#include "show_layout.hpp"
#include "table.hpp"

namespace quarry::command {
namespace {

struct ShowFlags {
  SelectionFlags selection;
  ListingFlags listing;
  std::optional<CodeForm> form;
  bool layout = false;
  std::string target;
};

/// What is shown of a kernel for each target that it could be compiled for.
constexpr std::string_view target_columns[] = {"precompiled", "registers", "spill_bytes",
                                               "code_bytes",  "blocks",    "occupancy"};

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

/// What is known of the machine code of entries: looked up once for each target.
class Known {
 public:
  const CodeResources& of(std::uint32_t entry, int cc) {
    const auto [place, added] = known_.try_emplace({entry, cc});
    if (added) place->second = detail::known_resources(entry, cc).value_or(CodeResources());
    return place->second;
  }

 private:
  std::map<std::pair<std::uint32_t, int>, CodeResources> known_;
};

/// A number that is there if the compiler gave it.
Cell if_compiled(const CodeResources& code, std::size_t value) {
  return code.registers > 0 ? Cell(static_cast<std::int64_t>(value)) : Cell();
}

/// Column `column` of target_columns; absent where the kernel does not run on the target, and where it was
/// not compiled.
Cell target_cell(const Kernel& kernel, int cc, std::size_t column, Known& known) {
  const KernelMetadata& metadata = kernel.metadata();
  if (metadata.cc > cc || metadata.max_cc.value_or(cc) < cc) return {};
  if (column == 0) return kernel.precompiled(cc);
  const DeviceModel& device = *model_for(cc);
  const CodeResources& code = known.of(detail::row_of(kernel).entry, cc);
  const BlockNeeds block{metadata.design.threads, code.registers, metadata.design.shared_memory};
  const int blocks = blocks_per_multiprocessor(block, device);
  switch (column) {
    case 1: return if_compiled(code, static_cast<std::size_t>(code.registers));
    case 2: return if_compiled(code, static_cast<std::size_t>(code.spill_bytes));
    // That of precompiled code is not known: kernels are compressed together.
    case 3: return code.code_bytes > 0 ? if_compiled(code, code.code_bytes) : Cell();
    case 4: return std::int64_t{blocks};
    default: return occupancy(blocks, block, device);
  }
}

int show_form(const std::vector<Kernel>& kernels, const ShowFlags& flags) {
  const Result<std::vector<int>> targets = read_targets(flags.target);
  if (!targets) return report(targets.status());
  if (targets->size() > 1) {
    return report(Status(StatusCode::invalid_arguments, "--target takes one compute capability here"));
  }
  const std::size_t shown = std::min(kernels.size(), row_limit(flags.listing));
  return show_code(std::span(kernels).first(shown), *flags.form, targets->front());
}

int show(const ShowFlags& flags) {
  if (flags.selection.names.empty() && flags.selection.where.empty()) {
    return report(Status(StatusCode::invalid_arguments, "which kernel? Give its name, or --where"));
  }
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  if (flags.form && !kernels->empty()) return show_form(*kernels, flags);
  if (flags.layout && !kernels->empty()) {
    return show_layout(std::span(*kernels).first(std::min(kernels->size(), row_limit(flags.listing))));
  }

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
  Known known;
  const auto cell = [&](std::size_t row, std::size_t column) {
    if (column < kernel_columns) return kernel_cell((*kernels)[row], column);
    const std::size_t number = column - kernel_columns;
    return target_cell((*kernels)[row], all_targets[number / std::size(target_columns)],
                       number % std::size(target_columns), known);
  };
  const Status printed = print_records(
      {.noun = "kernels", .columns = columns, .rows = kernels->size(), .cell = cell}, flags.listing);
  if (!printed) return report(printed);
  if (!kernels->empty()) return done;
  message("no kernel passes the filter");
  return failed;
}

/// Adds --source, --ptx, --sass, --target and --layout.
void add_code_flags(CLI::App& command, ShowFlags& flags) {
  const std::tuple<const char*, CodeForm, const char*> forms[] = {
      {"--source", CodeForm::source, "Show the source that is compiled, and the files that it is made of"},
      {"--ptx", CodeForm::ptx, "Show the PTX that the run-time compiler makes of it"},
      {"--sass", CodeForm::sass, "Show the machine code; needs nvdisasm, a program of the CUDA toolkit"}};
  std::vector<CLI::Option*> options;
  for (const auto& [name, form, help] : forms) {
    CLI::Option* const option = command.add_flag_callback(
        name, [&flags, f = form] { flags.form = f; }, help);
    for (CLI::Option* const other : options) option->excludes(other);
    for (const char* listing : {"--columns", "--sort", "--format"}) {
      option->excludes(command.get_option(listing));
    }
    options.push_back(option);
  }
  CLI::Option* const layout = command.add_flag(
      "--layout", flags.layout, "Show which thread holds which sum, and how tiles lie in shared memory");
  for (CLI::Option* const other : options) layout->excludes(other);
  for (const char* listing : {"--columns", "--sort", "--format"})
    layout->excludes(command.get_option(listing));
  command
      .add_option("--target", flags.target,
                  "Compute capability of --ptx and --sass, as 80; otherwise the device's, or 90")
      ->type_name("CC");
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
  add_code_flags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return show(*flags); }; });
}

}  // namespace quarry::command
