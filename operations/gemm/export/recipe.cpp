/// Which GEMM kernels are exported for any shape, and what their files say.
#include <algorithm>

#include "basic/text.hpp"
#include "config_text.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/device_model.hpp"

namespace quarry::detail {
namespace {

/// Refuses a kernel that only this library can launch: tensor maps are the driver's, and the blocks of
/// stream_k are as many as a device holds.
Status check_export(const Row& row) {
  const KernelMetadata& kernel = row.metadata;
  const auto spaces = config_spaces();
  const auto space = std::ranges::find(spaces, kernel.family, &ConfigSpace::family);
  if (kernel.modes.stream_k) {
    return {StatusCode::unsupported, quoted(kernel.name) +
                                         " cannot be exported for any shape: its blocks share the tiles "
                                         "(stream_k), and their number depends "
                                         "on the device; export it for one problem"};
  }
  if (kernel.operands.scales != ScaleSupport::none) {
    return {StatusCode::unsupported,
            quoted(kernel.name) +
                " cannot be exported for any shape: its operands have scales, which the "
                "parameters of exported kernels do not; export it for one problem"};
  }
  if (space != spaces.end() && (*space)->params == gemm_params) return {};
  return {
      StatusCode::unsupported,
      quoted(kernel.name) +
          " cannot be exported: it is launched with tensor maps, which the driver makes for each problem"};
}

std::vector<ExportedText> export_texts(const Row& row, int target,
                                       std::span<const ExportedFunction> functions) {
  ExportedKernel kernel = describe_export(row, target);
  kernel.kernel = functions[0];
  if (functions.size() > 1) kernel.reduction = functions[1];
  return {{kernel.name + ".h", export_header(kernel)}, {kernel.name + ".json", export_json(kernel)}};
}

}  // namespace

ExportedKernel describe_export(const Row& row, int target) {
  ExportedKernel exported;
  exported.name = row.metadata.name;
  exported.target = target;
  exported.metadata = row.metadata;
  exported.traits = gemm::family_of(row).profile(row.entry_config, default_device_model()).traits;
  exported.exchanged = row.exchanged;
  exported.kernel.entry = entry_of(row.entry).name;
  exported.kernel.file = exported.name + ".cubin";
  if (row.companions[0] != no_entry) {
    exported.reduction.entry = entry_of(row.companions[0]).name;
    exported.reduction.file = exported.reduction.entry + ".cubin";
  }
  return exported;
}

constinit const ExportRecipe gemm::Rules::recipe = {&check_export, &export_texts};

}  // namespace quarry::detail
