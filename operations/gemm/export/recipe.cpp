/// Which GEMM kernels are exported for any shape, and what their files say.
#include <algorithm>

#include "basic/text.hpp"
#include "config_text.hpp"
#include "operations/common/expression/tensors.hpp"
#include "operations/gemm/export/export.hpp"
#include "operations/gemm/operation.hpp"
#include "quarry/device_model.hpp"

namespace quarry::detail {
namespace {

/// Refuses a kernel that only this library can launch: tensor maps are the driver's, and the blocks of
/// stream_k are as many as a device holds.
Status check_kernel(const KernelMetadata& kernel) {
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

Status check_export(const ExportRequest& request) {
  if (Status s = check_kernel(request.row.metadata); !s) return s;
  if (request.expression == nullptr) return {};
  if (gathers(request.expression->expression))
    return {
        StatusCode::unsupported,
        quoted(request.row.metadata.name) +
            " cannot be exported for any shape with rows that an index chooses: the parameters of exported "
            "kernels do not say how many there are; export it for one problem: " +
            quoted(request.expression->expression.text())};
  if (!is_wide(request.expression->expression)) return {};
  return {StatusCode::unsupported,
          quoted(request.row.metadata.name) +
              " cannot be exported for any shape with gated pairs or reductions, which need more parameters "
              "and launches; export it for one problem: " +
              quoted(request.expression->expression.text())};
}

std::vector<ExportedText> export_texts(const ExportRequest& request,
                                       std::span<const ExportedFunction> functions) {
  ExportedKernel kernel = describe_export(request);
  kernel.kernel = functions[0];
  if (functions.size() > 1) kernel.reduction = functions[1];
  if (functions.size() > 2) kernel.plain = functions[2];
  return {{kernel.name + ".h", export_header(kernel)}, {kernel.name + ".json", export_json(kernel)}};
}

/// The name of an entry, with the request's expression compiled in where there is one.
std::string entry_name(std::uint32_t entry, const ExportRequest& request) {
  const std::string_view plain = entry_of(entry).name;
  return request.expression == nullptr ? std::string(plain) : entry_name_with(plain, *request.expression);
}

ExportedFunction in_own_file(const std::string& entry) { return {.entry = entry, .file = entry + ".cubin"}; }

}  // namespace

ExportedKernel describe_export(const ExportRequest& request) {
  const Row& row = request.row;
  ExportedKernel exported;
  exported.name = request.name;
  exported.target = request.target;
  exported.metadata = row.metadata;
  exported.traits = gemm::family_of(row).profile(row.entry_config, default_device_model()).traits;
  exported.exchanged = row.exchanged;
  exported.kernel = {.entry = entry_name(row.entry, request), .file = exported.name + ".cubin"};
  if (row.companions[0] != no_entry) exported.reduction = in_own_file(entry_name(row.companions[0], request));
  if (request.expression == nullptr) return exported;
  exported.expression = &request.expression->expression;
  if (row.companions[0] != no_entry) exported.plain = in_own_file(std::string(entry_of(row.entry).name));
  return exported;
}

constinit const ExportRecipe gemm::Rules::recipe = {&check_export, &export_texts};

}  // namespace quarry::detail
