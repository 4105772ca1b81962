#include "registry/compile/export_files.hpp"

#include <system_error>

#include "basic/text.hpp"
#include "operations/common/row.hpp"
#include "registry/compile/standalone.hpp"
#include "registry/compile/whole_file.hpp"
#include "registry/operation.hpp"

namespace quarry::detail {

Result<Artifact> exported_code(const Kernel& kernel, const CompileOptions& options) {
  Result<Artifact> artifact = kernel.compile(options);  // which checks the target
  if (!artifact || artifact->origin() != ArtifactOrigin::precompiled) return artifact;
  return standalone_artifact(row_of(kernel).entry, options);
}

Status make_export_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (std::filesystem::is_directory(folder)) return {};
  const std::string why = error ? error.message() : "it is there and is not a folder";
  return {StatusCode::file_error, "Cannot make the folder " + detail::quoted(folder.string()) + ": " + why};
}

Status write_export(const std::filesystem::path& folder, const std::string& name,
                    std::span<const std::byte> bytes) {
  return write_whole_file((folder / name).string(), bytes);
}

Status write_export(const std::filesystem::path& folder, const std::string& name, const std::string& text) {
  return write_export(folder, name, std::as_bytes(std::span(text)));
}

}  // namespace quarry::detail
