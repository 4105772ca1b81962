/// What exports have in common: machine code that stands alone, and whole files in a folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "quarry/artifact.hpp"
#include "quarry/kernel.hpp"

namespace quarry::detail {

/// The code of a kernel's own entry alone. Fails as Kernel::compile does.
Result<Artifact> exported_code(const Kernel& kernel, const CompileOptions& options);

/// Makes the folder where it is not there. file_error where it cannot be made.
Status make_export_folder(const std::filesystem::path& folder);

/// Writes a whole file into the folder, over one of that name. file_error where it cannot be written.
Status write_export(const std::filesystem::path& folder, const std::string& name,
                    std::span<const std::byte> bytes);
Status write_export(const std::filesystem::path& folder, const std::string& name, const std::string& text);

}  // namespace quarry::detail
