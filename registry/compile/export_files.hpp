/// What exports have in common: names, machine code that stands alone, and whole files in a folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "operations/common/row.hpp"
#include "quarry/artifact.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// Whether C can call something by this name: invalid_arguments where it is no identifier.
/// @param what "A plan", for the message
Status check_export_name(std::string_view what, const std::string& name);

/// The file of a function's code: NAME.cubin for the kernel's own, ENTRY.cubin for another one that its runs
/// launch. invalid_arguments where these are one file. @param what as above
Result<std::string> code_file(std::string_view what, const std::string& name, std::string_view entry,
                              bool is_own);

/// The code of an entry that runs of the row's kernel launch, alone. Fails as Kernel::compile does, and with
/// not_found for no_entry. @pre options.target is not 0
Result<Artifact> exported_code(const Row& row, std::uint32_t entry, const CompileOptions& options);

/// Makes the folder where it is not there. file_error where it cannot be made.
Status make_export_folder(const std::filesystem::path& folder);

/// Writes a whole file into the folder, over one of that name. file_error where it cannot be written.
Status write_export(const std::filesystem::path& folder, const std::string& name,
                    std::span<const std::byte> bytes);
Status write_export(const std::filesystem::path& folder, const std::string& name, const std::string& text);

}  // namespace quarry::detail
