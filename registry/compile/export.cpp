/// export_kernel: what it writes, and in which order.
#include "quarry/export.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>

#include "basic/text.hpp"
#include "config_text.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/operation.hpp"
#include "registry/compile/export_files.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/compile/whole_file.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

void add_code(detail::ExportedFunction& function, const Artifact& artifact) {
  function.code_bytes = artifact.code().size();
  function.resources = artifact.resources();
}

/// Refuses a reduction by itself, and a kernel that only this library can launch: tensor maps are the
/// driver's, and the blocks of stream_k are as many as a device holds.
Status check_params(const Kernel& kernel) {
  if (kernel.metadata().operation == Operation::reduce_split_k) {
    return {StatusCode::unsupported,
            detail::quoted(kernel.name()) +
                " cannot be exported by itself: a reduction comes with each kernel that "
                "it follows, which permits split_k_parallel"};
  }
  const auto spaces = config_spaces();
  const auto space = std::ranges::find(spaces, kernel.metadata().family, &ConfigSpace::family);
  if (kernel.metadata().modes.stream_k) {
    return {StatusCode::unsupported,
            detail::quoted(kernel.name()) +
                " cannot be exported: its blocks share the tiles (stream_k), as many as the device holds, "
                "which the exported functions do not know"};
  }
  if (space != spaces.end() && (*space)->params == gemm_params) return {};
  return {
      StatusCode::unsupported,
      detail::quoted(kernel.name()) +
          " cannot be exported: it is launched with tensor maps, which the driver makes for each problem"};
}

Status export_into(const Kernel& kernel, const std::filesystem::path& folder, CompileOptions options) {
  if (Status s = check_params(kernel); !s) return s;
  if (options.target == 0) options.target = default_device_model().cc;
  detail::ExportedKernel exported = detail::describe_export(detail::row_of(kernel), options.target);
  const Result<Artifact> code = detail::exported_code(kernel, options);
  if (!code) return code.status();
  add_code(exported.kernel, *code);
  std::optional<Artifact> reduction;
  if (!exported.reduction.entry.empty()) {
    Result<Artifact> made = detail::standalone_artifact(detail::row_of(kernel).companions[0], options);
    if (!made) return made.status();
    add_code(exported.reduction, *made);
    reduction = *std::move(made);
  }

  if (Status s = detail::make_export_folder(folder); !s) return s;
  if (Status s = detail::write_export(folder, exported.kernel.file, code->code()); !s) return s;
  if (reduction) {
    if (Status s = detail::write_export(folder, exported.reduction.file, reduction->code()); !s) return s;
  }
  if (Status s = detail::write_export(folder, exported.name + ".h", detail::export_header(exported)); !s)
    return s;
  return detail::write_export(folder, exported.name + ".json", detail::export_json(exported));
}

}  // namespace

detail::ExportedKernel detail::describe_export(const Row& row, int target) {
  ExportedKernel exported;
  exported.name = row.metadata.name;
  exported.target = target;
  exported.metadata = row.metadata;
  exported.traits = detail::gemm::family_of(row).profile(row.entry_config, default_device_model()).traits;
  exported.exchanged = row.exchanged;
  exported.kernel.entry = entry_of(row.entry).name;
  exported.kernel.file = exported.name + ".cubin";
  if (row.companions[0] != no_entry) {
    exported.reduction.entry = entry_of(row.companions[0]).name;
    exported.reduction.file = exported.reduction.entry + ".cubin";
  }
  return exported;
}

Status export_kernel(const Kernel& kernel, const std::string& folder, const CompileOptions& options) try {
  return export_into(kernel, folder, options);
} catch (const std::exception& error) {
  return {StatusCode::device_error, "Cannot export " + detail::quoted(kernel.name()) + ": " + error.what()};
}

}  // namespace quarry
