/// The fields of kernels' metadata by name: what filters, listings and JSON can say of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// What values a field has.
enum class FieldType : std::uint8_t {
  integer,
  boolean,
  word,  ///< an enum: one of the field's words
  text,
};

/// The word for a type: "integer", ...
std::string_view to_string(FieldType type);

/// One field of KernelMetadata.
struct MetadataField {
  /// The shortest path that no other field has: "tile.m". Filters know the field by it.
  std::string_view name;
  /// The full path, as in C++: "design.tile.m".
  std::string_view path;
  FieldType type;
  /// Of a word: all that it can be.
  std::span<const std::string_view> words;
  /// What the field means: one line without a final stop.
  std::string_view help;
  /// Its place in metadata_fields().
  std::size_t number;
};

/// Every field, in the order of KernelMetadata. Valid for the life of the process.
std::span<const MetadataField> metadata_fields();

/// The field of this path: the full path, or any end of it ("tile.m" of "design.tile.m") that only one field
/// has. Fails with parse_error, and the candidates, where several have it, and with not_found, and the
/// nearest paths, where none has.
Result<MetadataField> find_metadata_field(std::string_view path);

/// The value of a field: nothing where the kernel lacks it, a bool of a boolean, a number of an integer, a
/// text of a word or text, which lives as long as the kernel.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, std::string_view>;

/// What a kernel has of a field. @pre the field is one of metadata_fields()
FieldValue field_value(const MetadataField& field, const KernelMetadata& kernel);

}  // namespace quarry
