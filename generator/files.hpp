/// Output files.
#pragma once

#include <filesystem>
#include <string_view>

#include "emit.hpp"

namespace quarry::generator {

/// Writes the text unless the file holds it already, so that what depends on it is not built again.
Status write_if_changed(const std::filesystem::path& file, std::string_view text);

/// Writes all files below a folder, and removes what lies in its `units` and is not among them.
Status write_files(const std::filesystem::path& folder, const Files& files);

}  // namespace quarry::generator
