/// The fields of kernel metadata by name, as filters, listings and JSON use them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry {

/// The type of the values of a field.
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
  /// The shortest path that belongs to no other field: "tile.m". Filters know the field by it.
  std::string_view name;
  /// The full path, as in C++: "design.tile.m".
  std::string_view path;
  FieldType type;
  /// For a word: all its possible values.
  std::span<const std::string_view> words;
  /// What the field means: one line without a full stop at the end.
  std::string_view help;
  /// Its index in metadata_fields().
  std::size_t number;
};

/// Every field, in the order of KernelMetadata. Valid for the life of the process.
std::span<const MetadataField> metadata_fields();

/// The field with this path: the full path, or any end of it ("tile.m" of "design.tile.m") that belongs to
/// only one field. Fails with parse_error and the candidates if several fields match, and with not_found and
/// the nearest paths if no field matches.
Result<MetadataField> find_metadata_field(std::string_view path);

/// The value of a field: std::monostate if the kernel lacks the field, otherwise a bool (boolean), a number
/// (integer) or a text (word, text), which is valid as long as the kernel.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, std::string_view>;

/// The value of a field of a kernel. @pre the field is one of metadata_fields()
FieldValue field_value(const MetadataField& field, const KernelMetadata& kernel);

}  // namespace quarry
