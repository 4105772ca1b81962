/// What ptxas reported of each compiled entry.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::generator {

/// resources.cpp: detail::resources and detail::precompiled_targets of operations/common/row.hpp. Fails where
/// a log lacks an entry that was compiled.
/// @param manifest what emit_manifest wrote
/// @param logs folder of `<unit>.log`, each nvcc's output with `-Xptxas -v`
/// @param targets compute capabilities as 80 or 90, ascending
Result<std::string> emit_resources(const std::filesystem::path& manifest, const std::filesystem::path& logs,
                                   const std::vector<int>& targets);

}  // namespace quarry::generator
