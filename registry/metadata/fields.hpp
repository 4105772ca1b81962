/// The list of metadata fields: the one place from which the filter language, the command's columns, its JSON
/// and the reference page know what can be asked of a kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quarry/fields.hpp"
#include "quarry/metadata.hpp"
#include "quarry/status.hpp"

namespace quarry::detail {

/// The number that a field of a kernel has, or none. Unlike std::optional it is returned in registers by any
/// compiler, which halves what a filter costs.
struct Number {
  std::int64_t value = 0;
  bool present = false;

  constexpr Number() = default;
  constexpr Number(std::int64_t number) : value(number), present(true) {}
  constexpr Number(std::optional<int> number) : value(number.value_or(0)), present(number.has_value()) {}
  constexpr operator std::optional<std::int64_t>() const {
    return present ? std::optional(value) : std::nullopt;
  }
};

/// One field of KernelMetadata. Getters allocate nothing.
struct Field {
  /// The full path, as in C++: "design.tile.m".
  std::string_view path;
  FieldType type;
  /// The value of an integer, a boolean (0 or 1) or a word (its place among `words`); nullopt where a kernel
  /// lacks the field. Null for a text.
  Number (*number)(const KernelMetadata&);
  /// The value of a text, which is never absent. Null for the other types.
  std::string_view (*text)(const KernelMetadata&);
  /// Of a word: all of them, by value.
  std::span<const std::string_view> words;
  /// One line without a final stop.
  std::string_view help;
};

/// Every field, in the order of KernelMetadata.
std::span<const Field> all_fields();

/// The field of this path: the full path, or any end of it ("tile.m" of "design.tile.m") that only one field
/// has. parse_error with the candidates where several have it; not_found with the nearest paths where none
/// has.
Result<const Field*> find_field(std::string_view path);

/// Whether find_field would give this path one field, or several to choose from. Allocates nothing.
bool names_field(std::string_view path);

/// The fields of a part of the metadata, such as "warps" or "operands.a", by any end of its path: those whose
/// path goes on from it. Empty where there is no such part, or more than one.
std::vector<const Field*> find_fields_of(std::string_view part);

/// The shortest path that find_field gives this field for. @pre `field` is an element of all_fields()
std::string_view shortest_path(const Field& field);

/// Whether the kernel has the field.
bool present(const Field& field, const KernelMetadata& kernel);

/// The value as text: a number, "true" or "false", a word, or the text itself; empty where the kernel lacks
/// the field.
std::string value_text(const Field& field, const KernelMetadata& kernel);

}  // namespace quarry::detail
