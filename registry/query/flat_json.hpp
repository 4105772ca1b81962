/// A strict reader for the JSON of configs: one object, whose values are strings, numbers, words (true,
/// false, null) and lists of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "quarry/status.hpp"

namespace quarry::detail {

/// What a value is.
enum class JsonKind : std::uint8_t { string, integer, fraction, word, list };

/// A value that is no list.
struct JsonScalar {
  JsonKind kind = JsonKind::word;
  /// Of an integer; beyond the ends of its type, the end.
  std::int64_t number = 0;
  /// As written; of a string, what stands between the quotes.
  std::string_view text;
  /// Byte at which it begins.
  std::size_t offset = 0;
};

struct JsonValue : JsonScalar {
  std::vector<JsonScalar> elements;  ///< of a list
};

struct JsonMember {
  std::string_view key;
  /// Byte at which the key begins.
  std::size_t offset = 0;
  JsonValue value;
};

/// The members of an object, as written. Views into `text`. Fails with parse_error, and shows where, for
/// everything that is not such an object, and for a key that is there twice; beyond that, JSON with escapes
/// in its strings, with objects or lists within lists, longer than 4096 bytes, or of more than 32 members or
/// elements is not read.
Result<std::vector<JsonMember>> read_flat_json(std::string_view text);

/// "a string", "a list": for messages.
std::string_view noun_of(const JsonScalar& value);

}  // namespace quarry::detail
