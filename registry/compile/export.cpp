/// export_kernel: what it writes, and in which order.
#include "quarry/export.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include "basic/text.hpp"
#include "registry/compile/export_files.hpp"
#include "registry/device/prepared.hpp"
#include "registry/operation.hpp"
#include "registry/query/own_kernels.hpp"

namespace quarry {
namespace {

/// How the kernel is exported for any shape; unsupported where it is not.
Result<const detail::ExportRecipe*> recipe_of(const detail::ExportRequest& request) {
  const detail::OperationInfo& info = detail::info_of(request.row.metadata.operation);
  if (info.recipe == nullptr) {
    return Status(StatusCode::unsupported,
                  detail::quoted(request.row.metadata.name) +
                      " cannot be exported by itself: " + std::string(info.no_recipe));
  }
  if (Status s = info.recipe->check(request); !s) return s;
  return info.recipe;
}

/// The entries that runs of any shape launch, in the order of ExportRecipe::texts.
std::vector<std::uint32_t> entries_of(const detail::ExportRequest& request) {
  const detail::Row& row = request.row;
  const std::uint32_t companion = row.companions[0];
  if (request.expression == nullptr) {
    if (companion == detail::no_entry) return {row.entry};
    return {row.entry, companion};
  }
  const detail::InternedExpression& with = *request.expression;
  if (!detail::may_be_reduced(row, with.expression)) return {detail::entry_with(row.entry, with)};
  return {detail::entry_with(row.entry, with), detail::entry_with(companion, with), row.entry};
}

/// A file of machine code.
struct CodeFile {
  detail::ExportedFunction function;
  Artifact code;
};

/// The code of the kernel, and of what else its runs may launch.
Result<std::vector<CodeFile>> code_files(const detail::ExportRequest& request,
                                         const CompileOptions& options) {
  std::vector<CodeFile> files;
  for (const std::uint32_t entry : entries_of(request)) {
    Result<Artifact> code = detail::exported_code(request.row, entry, options);
    if (!code) return code.status();
    const std::string name(code->entry());
    const Result<std::string> file = detail::code_file("A kernel", request.name, name, files.empty());
    if (!file) return file.status();
    const detail::ExportedFunction function = {name, *file, code->code().size(), code->resources()};
    files.push_back({function, *std::move(code)});
  }
  return files;
}

/// @param request without a target, which the options have
Status export_into(detail::ExportRequest request, const std::filesystem::path& folder,
                   CompileOptions options) {
  const Result<const detail::ExportRecipe*> recipe = recipe_of(request);
  if (!recipe) return recipe.status();
  if (options.target == 0) options.target = default_device_model().cc;
  request.target = options.target;
  const Result<std::vector<CodeFile>> files = code_files(request, options);
  if (!files) return files.status();
  std::vector<detail::ExportedFunction> functions;
  for (const CodeFile& each : *files) functions.push_back(each.function);

  if (Status s = detail::make_export_folder(folder); !s) return s;
  for (const CodeFile& each : *files) {
    if (Status s = detail::write_export(folder, each.function.file, each.code.code()); !s) return s;
  }
  for (const detail::ExportedText& each : (*recipe)->texts(request, functions)) {
    if (Status s = detail::write_export(folder, each.file, each.text); !s) return s;
  }
  return {};
}

Status cannot_export(const Kernel& kernel, const std::exception& error) {
  return {StatusCode::device_error, "Cannot export " + detail::quoted(kernel.name()) + ": " + error.what()};
}

/// Exports what the launch of some arguments has compiled in.
Status export_launched(const Kernel& kernel, Arguments arguments, const std::filesystem::path& folder,
                       const ExportOptions& options) {
  const detail::Row& row = detail::row_of(kernel);
  detail::PreparedLaunch prepared;
  if (Status s = detail::prepare_launch(row, kernel.entry_controls(), arguments, prepared); !s) return s;
  if (prepared.launch.is_empty()) {
    return {StatusCode::invalid_arguments,
            "There is no expression to export: the output of the arguments has no elements, so that nothing "
            "is launched"};
  }
  detail::ExportRequest request = {
      .row = row, .expression = prepared.launch.expression, .name = options.name};
  if (request.name.empty()) {
    request.name = kernel.name();
    if (request.expression != nullptr) request.name += "_expression";
  }
  if (Status s = detail::check_export_name("A kernel", request.name); !s) return s;
  return export_into(std::move(request), folder, options.compile);
}

}  // namespace

Status export_kernel(const Kernel& kernel, const std::string& folder, const CompileOptions& options) try {
  return export_into({.row = detail::row_of(kernel), .name = std::string(kernel.name())}, folder, options);
} catch (const std::exception& error) {
  return cannot_export(kernel, error);
}

Status export_kernel(const Kernel& kernel, Arguments arguments, const std::string& folder,
                     const ExportOptions& options) try {
  return export_launched(kernel, arguments, folder, options);
} catch (const std::exception& error) {
  return cannot_export(kernel, error);
}

}  // namespace quarry
