/// quarry show: everything that is known of a kernel.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "lab/code/code_text.hpp"
#include "lab/code/layouts.hpp"
#include "lab/code/occupancy.hpp"
#include "quarry/code.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/kernel_columns.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/pack_targets.hpp"
#include "tools/command/common/selection.hpp"
#include "tools/command/common/table.hpp"

namespace quarry::command {
namespace {

struct ShowFlags {
  SelectionFlags selection;
  ListingFlags listing;
  std::optional<lab::CodeForm> form;
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
  const CodeResources& of(const Kernel& kernel, int cc) {
    const auto [place, added] = known_.try_emplace({entry_name(kernel), cc});
    if (added) place->second = known_resources(kernel, cc).value_or(CodeResources());
    return place->second;
  }

 private:
  std::map<std::pair<std::string_view, int>, CodeResources> known_;
};

/// A number that is there if the compiler gave it.
Cell if_compiled(const CodeResources& code, std::size_t value) {
  return code.registers > 0 ? Cell(static_cast<std::int64_t>(value)) : Cell();
}

bool runs_on(const KernelMetadata& metadata, int cc) {
  return metadata.cc <= cc && metadata.max_cc.value_or(cc) >= cc;
}

/// Column `column` of target_columns; absent where the kernel does not run on the target, and where it was
/// not compiled.
Cell target_cell(const Kernel& kernel, int cc, std::size_t column, Known& known) {
  const KernelMetadata& metadata = kernel.metadata();
  if (!runs_on(metadata, cc)) return {};
  if (column == 0) return kernel.precompiled(cc);
  const DeviceModel& device = *model_for(cc);
  const CodeResources& code = known.of(kernel, cc);
  const lab::BlockNeeds block{metadata.design.threads, code.registers, metadata.design.shared_memory};
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

/// Prints each kernel's code, as far as it can be had.
int show_code(std::span<const Kernel> kernels, lab::CodeForm form, int target) {
  bool first = true;
  for (const Kernel& kernel : kernels) {
    const Result<std::string> text = lab::code_text(kernel, form, target);
    if (!text) return report(text.status());
    if (!first) write_output("\n");
    write_output(*text);
    first = false;
  }
  return done;
}

/// Prints each kernel's layouts, or nothing where one has none.
int show_layout(std::span<const Kernel> kernels) {
  std::string all;
  for (const Kernel& kernel : kernels) {
    const Result<std::string> text = lab::layout_text(kernel);
    if (!text) return report(text.status());
    all += (all.empty() ? "" : "\n") + *text;
  }
  write_output(all);
  return done;
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

/// Says how what is known of compiled code alone can be had. @param unknown rows without it, by target
void explain_absent(const std::map<int, std::set<std::size_t>>& unknown) {
  for (const auto& [cc, rows] : unknown) {
    message(std::to_string(rows.size()) + (rows.size() == 1 ? " kernel is" : " kernels are") +
            " not compiled for " + capability_text(cc) +
            ", so registers and spills are unknown: `quarry pack NAME... -o FILE --target " +
            std::to_string(cc) + "` compiles them");
  }
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
  std::map<int, std::set<std::size_t>> unknown;
  const auto cell = [&](std::size_t row, std::size_t column) {
    const Kernel& kernel = (*kernels)[row];
    if (column < kernel_columns) return kernel_cell(kernel, column);
    const std::size_t number = (column - kernel_columns) % std::size(target_columns);
    const int cc = all_targets[(column - kernel_columns) / std::size(target_columns)];
    const Cell value = target_cell(kernel, cc, number, known);
    const bool of_code = target_columns[number] == "registers" || target_columns[number] == "spill_bytes";
    if (of_code && std::holds_alternative<std::monostate>(value) && runs_on(kernel.metadata(), cc))
      unknown[cc].insert(row);
    return value;
  };
  const Status printed = print_records(
      {.noun = "kernels", .columns = columns, .rows = kernels->size(), .cell = cell}, flags.listing);
  if (!printed) return report(printed);
  if (!flags.listing.columns.empty()) explain_absent(unknown);
  return kernels->empty() ? report(none_selected(flags.selection)) : static_cast<int>(done);
}

/// Adds --source, --ptx, --sass, --target and --layout.
void add_code_flags(CLI::App& command, ShowFlags& flags) {
  const std::tuple<const char*, lab::CodeForm, const char*> forms[] = {
      {"--source", lab::CodeForm::source, "Show the source that is compiled, and the files that it includes"},
      {"--ptx", lab::CodeForm::ptx, "Show the PTX that the run-time compiler generates"},
      {"--sass", lab::CodeForm::sass,
       "Show the machine code; needs nvdisasm, a program of the CUDA toolkit"}};
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
                  "Compute capability for --ptx and --sass, such as 80; otherwise the device's, or 90")
      ->type_name("CC");
}

}  // namespace

void add_show(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ShowFlags>();
  CLI::App* command = add_command(
      app, "show",
      {.help = "Show the metadata, resources, source or machine code of kernels",
       .usage = "NAME... [FLAGS]",
       .examples = {"quarry list --limit 1 --format names | quarry show -",
                    "quarry show --where 'family == gemm_simt' --limit 2 --columns "
                    "name,threads,sm_90.registers,sm_90.occupancy"},
       .notes = "`-` reads names from standard input. blocks and occupancy are upper bounds for one "
                "multiprocessor. They follow from\n"
                "threads, shared memory and, for compiled kernels, registers. sm_80 is computed for an A100, "
                "sm_90 "
                "for an H100 or H200."});
  add_selection_flags(*command, flags->selection);
  add_listing_flags(*command, flags->listing);
  add_code_flags(*command, *flags);
  command->callback([flags, &action] { action = [flags] { return show(*flags); }; });
}

}  // namespace quarry::command
