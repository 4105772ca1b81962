/// JSON files, with errors that say where.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "quarry/status.hpp"

namespace quarry::generator {

/// Keys keep the order in which they were written.
using Json = nlohmann::ordered_json;

/// The whole file as bytes.
Result<std::string> read_text(const std::filesystem::path& file);

/// The parsed file; a failure names file, line and column. A key that stands twice in one object is an error.
Result<Json> read_json(const std::filesystem::path& file);

/// The word for a value's type with its article: "a string", "an array".
std::string_view type_of(const Json& value);

}  // namespace quarry::generator
