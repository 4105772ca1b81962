/// quarry export: kernels as files that other runtimes launch.
#include "quarry/export.hpp"

#include "basic/text.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "pack_targets.hpp"
#include "selection.hpp"

namespace quarry::command {
namespace {

struct ExportFlags {
  SelectionFlags selection;
  std::string folder;
  std::string target;
};

int export_selected(const ExportFlags& flags) {
  constexpr auto bad = StatusCode::invalid_arguments;
  if (flags.selection.names.empty() && flags.selection.where.empty())
    return report(Status(bad, "which kernel? Give its name, or --where"));
  if (flags.folder.empty()) return report(Status(bad, "where to? Give -o FOLDER"));
  const Result<std::vector<int>> targets = read_targets(flags.target);
  if (!targets) return report(targets.status());
  if (targets->size() > 1) return report(Status(bad, "--target takes one compute capability here"));
  const Result<std::vector<Kernel>> kernels = read_selection(flags.selection);
  if (!kernels) return report(kernels.status());
  if (kernels->empty()) return report(Status(StatusCode::filtered_out, "no kernel passes the filter"));
  for (const Kernel& kernel : *kernels) {
    const Status status = export_kernel(kernel, flags.folder, {.target = targets->front()});
    if (!status) return report(status);
    write_output(flags.folder + "/" + std::string(kernel.name()) + ".json\n");
  }
  return done;
}

}  // namespace

void add_export(CLI::App& app, Action& action) {
  const auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = add_command(
      app, "export",
      {.help = "Write kernels as files that a program launches without this library",
       .usage = "NAME... -o FOLDER [FLAGS]",
       .examples =
           {"quarry find gemm 512x512x512 f16 --where 'family == gemm_sm80' --limit 1 --format names | "
            "quarry export - -o exported",
            "quarry export --where 'family == gemm_simt and a.dtype == f64 and tile.m == 64' -o "
            "exported --target 80"},
       .notes =
           "For each kernel: NAME.cubin, NAME.h (grid, parameters and workspace in C) and NAME.json (the "
           "same for programs),\n"
           "and the code of the reduction that a parallel split-K needs. Prints the path of each "
           "NAME.json.\n"
           "Kernels of gemm_sm90, which take tensor maps, are not exported."});
  add_selection_flags(*command, flags->selection);
  command->add_option("-o,--output", flags->folder, "Folder to write into; made where it is not there")
      ->type_name("FOLDER");
  command
      ->add_option("--target", flags->target,
                   "Compute capability, as 80; otherwise that of the device, 90 where there is none")
      ->type_name("CC");
  command->callback([flags, &action] { action = [flags] { return export_selected(*flags); }; });
}

}  // namespace quarry::command
