/// export_kernel: what it writes, and in which order.
#include "quarry/export.hpp"

#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

#include "basic/text.hpp"
#include "registry/compile/export_files.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/compile/whole_file.hpp"
#include "registry/operation.hpp"

namespace quarry {
namespace {

/// How the kernel is exported for any shape; unsupported where it is not.
Result<const detail::ExportRecipe*> recipe_of(const detail::Row& row) {
  const detail::OperationInfo& info = detail::info_of(row.metadata.operation);
  if (info.recipe == nullptr) {
    return Status(
        StatusCode::unsupported,
        detail::quoted(row.metadata.name) + " cannot be exported by itself: " + std::string(info.no_recipe));
  }
  if (Status s = info.recipe->check(row); !s) return s;
  return info.recipe;
}

/// A file of machine code.
struct CodeFile {
  detail::ExportedFunction function;
  Artifact code;
};

CodeFile code_file(std::uint32_t entry, const std::string& file, Artifact code) {
  return {{std::string(detail::entry_of(entry).name), file, code.code().size(), code.resources()},
          std::move(code)};
}

/// The code of the kernel, and of its first companion.
Result<std::vector<CodeFile>> code_files(const Kernel& kernel, const CompileOptions& options) {
  const detail::Row& row = detail::row_of(kernel);
  Result<Artifact> own = detail::exported_code(kernel, options);
  if (!own) return own.status();
  std::vector<CodeFile> files = {
      code_file(row.entry, std::string(kernel.name()) + ".cubin", *std::move(own))};
  const std::uint32_t companion = row.companions[0];
  if (companion == detail::no_entry) return files;
  Result<Artifact> other = detail::standalone_artifact(companion, options);
  if (!other) return other.status();
  const std::string file = std::string(detail::entry_of(companion).name) + ".cubin";
  files.push_back(code_file(companion, file, *std::move(other)));
  return files;
}

Status export_into(const Kernel& kernel, const std::filesystem::path& folder, CompileOptions options) {
  const detail::Row& row = detail::row_of(kernel);
  const Result<const detail::ExportRecipe*> recipe = recipe_of(row);
  if (!recipe) return recipe.status();
  if (options.target == 0) options.target = default_device_model().cc;
  const Result<std::vector<CodeFile>> files = code_files(kernel, options);
  if (!files) return files.status();
  std::vector<detail::ExportedFunction> functions;
  for (const CodeFile& each : *files) functions.push_back(each.function);

  if (Status s = detail::make_export_folder(folder); !s) return s;
  for (const CodeFile& each : *files) {
    if (Status s = detail::write_export(folder, each.function.file, each.code.code()); !s) return s;
  }
  for (const detail::ExportedText& each : (*recipe)->texts(row, options.target, functions)) {
    if (Status s = detail::write_export(folder, each.file, each.text); !s) return s;
  }
  return {};
}

}  // namespace

Status export_kernel(const Kernel& kernel, const std::string& folder, const CompileOptions& options) try {
  return export_into(kernel, folder, options);
} catch (const std::exception& error) {
  return {StatusCode::device_error, "Cannot export " + detail::quoted(kernel.name()) + ": " + error.what()};
}

}  // namespace quarry
