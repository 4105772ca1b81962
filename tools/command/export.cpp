/// quarry export: kernels as files that other runtimes launch.
#include "quarry/export.hpp"

#include <algorithm>

#include "lab/problems/kernel_problem.hpp"
#include "lab/text.hpp"
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"
#include "tools/command/common/pack_targets.hpp"
#include "tools/command/common/problem_flags.hpp"
#include "tools/command/common/selection.hpp"

namespace quarry::command {
namespace {

struct ExportFlags {
  SelectionFlags selection;
  lab::SettingTexts settings;
  std::string name;
  std::string folder;
  std::string target;
};

/// Exports a plan of one kernel for one problem.
int export_problem(const ExportFlags& flags, const std::string& shape, int target) {
  if (flags.selection.names.size() != 1 || !flags.selection.where.empty())
    return report(Status(StatusCode::parse_error, "a shape goes with one kernel: quarry export NAME SHAPE"));
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  const Kernel& kernel = kernels->front();
  const Result<lab::Problem> problem = lab::problem_for(kernel, shape, flags.settings);
  if (!problem) return report(problem.status());
  const lab::HeldArguments arguments = arguments_of(*problem);
  if (const Status s = kernel.supports(arguments); !s) return report(s);
  const ExportOptions options = {.compile = {.target = target}, .name = flags.name};
  const Status status = export_plan(kernel, arguments, flags.folder, options);
  if (!status) return report(status);
  const std::string name = flags.name.empty() ? std::string(kernel.name()) : flags.name;
  write_output(flags.folder + "/" + name + ".plan.h\n");
  return done;
}

/// Exports one kernel for any shape, with the expression that flags give, if any.
Status export_for_any_shape(const Kernel& kernel, const ExportFlags& flags, int target) {
  if (flags.settings.empty()) return export_kernel(kernel, flags.folder, {.target = target});
  const Result<lab::Problem> problem = lab::example_problem_for(kernel, flags.settings);
  if (!problem) return problem.status();
  const lab::HeldArguments arguments = arguments_of(*problem);
  return export_kernel(kernel, arguments, flags.folder, {.compile = {.target = target}, .name = flags.name});
}

/// The name of its files.
std::string name_of(const Kernel& kernel, const ExportFlags& flags) {
  if (!flags.name.empty()) return flags.name;
  return std::string(kernel.name()) + (flags.settings.empty() ? "" : "_expression");
}

/// Refuses flags that an export for any shape does not know. @pre there is no shape
Status check_flags(const ExportFlags& flags) {
  constexpr auto bad = StatusCode::parse_error;
  for (const auto& [flag, text] : flags.settings) {
    if (flag != "epilogue" && flag != "with")
      return {bad, "--" + flag + " goes with a shape: quarry export NAME SHAPE"};
  }
  if (flags.name.empty()) return {};
  if (flags.settings.empty())
    return {bad, "--name goes with a shape or --epilogue: quarry export NAME SHAPE"};
  if (flags.selection.names.size() == 1 && flags.selection.where.empty()) return {};
  return {bad, "--name goes with one kernel: quarry export NAME --epilogue TEXT"};
}

int export_selected(ExportFlags flags) {
  constexpr auto bad = StatusCode::invalid_arguments;
  if (flags.selection.names.empty() && flags.selection.where.empty())
    return report(Status(bad, "which kernel? Give its name, or --where"));
  if (flags.folder.empty()) return report(Status(bad, "where to? Give -o FOLDER"));
  const Result<std::vector<int>> targets = read_targets(flags.target);
  if (!targets) return report(targets.status());
  if (targets->size() > 1) return report(Status(bad, "--target takes one compute capability here"));
  std::vector<std::string>& words = flags.selection.names;
  if (!words.empty() && lab::is_shape(words.back())) {
    const std::string shape = lab::take_shape(words);
    return export_problem(flags, shape, targets->front());
  }
  if (std::ranges::any_of(words, lab::is_shape)) {
    return report(
        Status(StatusCode::parse_error, lab::quoted(words.back()) +
                                            " stands behind the shape, and the kernel has its types: "
                                            "quarry export NAME SHAPE"));
  }
  if (const Status s = check_flags(flags); !s) return report(s);
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  if (kernels->empty()) return report(none_selected(flags.selection));
  for (const Kernel& kernel : *kernels) {
    const Status status = export_for_any_shape(kernel, flags, targets->front());
    if (!status) return report(status);
    write_output(flags.folder + "/" + name_of(kernel, flags) + ".json\n");
  }
  return done;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = add_command(
      app, "export",
      {.help = "Write kernels as files that a program launches without this library",
       .usage = "NAME... -o FOLDER [FLAGS] | NAME SHAPE -o FOLDER [FLAGS]",
       .examples =
           {"quarry export --where 'family == gemm_simt and a.dtype == f64 and scales == none' -o exported "
            "--target 80",
            "quarry export gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_a8x8 256x256x512 -o "
            "exported "
            "--name small",
            "quarry export gemm_simt_f32_f32_f32_f32_rcr_64x64x16_t4x4 --epilogue 'out = gelu(sum)' -o "
            "exported "
            "--name gelu"},
       .notes =
           "For each kernel: NAME.cubin, NAME.h (grid, parameters and workspace in C) and NAME.json (the "
           "same for programs),\n"
           "and the code of the reduction that a parallel split-K needs. Prints the path of each "
           "NAME.json.\n"
           "With --epilogue and --with, this expression is compiled in, and NAME.h takes its tensors.\n"
           "Kernels of gemm_sm80 and gemm_simt without scales and stream_k are exported for any shape, "
           "others for one problem.\n"
           "With a shape, a plan of one kernel is written, for that problem alone: NAME.plan.h, which fills "
           "the "
           "parameters\n"
           "from pointers and lists the launches, and NAME.cubin. Prints the path of NAME.plan.h."});
  add_selection_flags(*command, flags->selection);
  command->add_option("-o,--output", flags->folder, "Folder to write into; created if it does not exist")
      ->type_name("FOLDER");
  command
      ->add_option("--target", flags->target,
                   "Compute capability, as 80 (default: the device's, or 90 without a device)")
      ->type_name("CC");
  command
      ->add_option("--name", flags->name,
                   "Name in files and C (default: the kernel's, with _expression for any shape)")
      ->type_name("NAME");
  add_setting_flags(*command, flags->settings);
  command->callback([flags, &action] { action = [flags] { return export_selected(*flags); }; });
}

}  // namespace quarry::command
